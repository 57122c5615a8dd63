/** Questions to another process that are not answered yet. */
export interface Pending<T> {
  /** Asks under a new id; undefined if no answer comes in time, or if too many wait already. */
  readonly ask: (send: (id: number) => void) => Promise<T | undefined>;
  readonly answer: (id: number, value: T | undefined) => void;
  /** The other process has ended: it answers no more. */
  readonly end: () => void;
}

/** Questions that wait at most so many milliseconds each, and most of them that wait at a time. */
export function createPending<T>(timeoutMs: number, mostWaiting = 1000): Pending<T> {
  const waiting = new Map<number, (value: T | undefined) => void>();
  let lastId = 0;
  const answer = (id: number, value: T | undefined): void => {
    waiting.get(id)?.(value);
    waiting.delete(id);
  };
  return {
    answer,
    end: () => {
      for (const id of [...waiting.keys()]) answer(id, undefined);
    },
    ask: (send) => {
      if (waiting.size >= mostWaiting) return Promise.resolve(undefined);
      lastId += 1;
      const id = lastId;
      return new Promise((resolve) => {
        // An answer that has arrived by then is read first: timers run before it, and a busy process may be late for both.
        const timer = setTimeout(setImmediate, timeoutMs, answer, id, undefined);
        waiting.set(id, (value) => {
          clearTimeout(timer);
          resolve(value);
        });
        send(id);
      });
    },
  };
}
