/** Lets requests wait for each other, so that what a client sends together is in flight together. */
export interface Gate {
  /** Resolves when this request may be answered. */
  pass(): Promise<void>;
  /** Lets everything through that waits, and from now on holds nothing back. */
  release(): void;
}

/** Turns of the event loop in which nothing may come either: on a busy machine the timer is due before what has arrived is read. */
const QUIET_TURNS = 8;

/** The condition to open a gate: `hold` requests wait there or, without `hold`, none came for `quiet` milliseconds. */
export interface GateOptions {
  readonly hold?: number;
  readonly quiet?: number;
}

/** A closed gate. It closes again behind what it has let through, until it is released. */
export function createGate({ hold, quiet = 5 }: GateOptions): Gate {
  const waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let released = false;
  const open = (): void => {
    clearTimeout(timer);
    clearImmediate(turn);
    for (const go of waiting.splice(0)) go();
  };
  const openAfterTurns = (left: number): void => {
    turn = setImmediate(() => (left > 1 ? openAfterTurns(left - 1) : open()));
  };
  return {
    pass: () => {
      if (released) return Promise.resolve();
      const passed = new Promise<void>((resolve) => void waiting.push(resolve));
      if (hold === undefined) {
        clearTimeout(timer);
        clearImmediate(turn);
        timer = setTimeout(() => openAfterTurns(QUIET_TURNS), quiet);
      } else if (waiting.length >= hold) open();
      return passed;
    },
    release: () => {
      released = true;
      open();
    },
  };
}
