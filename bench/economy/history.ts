/** The writes of a day and their times, against which answers are checked. */

/** A state of an object, as it stands in one of its texts. */
export interface State {
  readonly object: string;
  /** Counts the states of the object from 1. */
  readonly version: number;
}

/** The text that tells a state, as a part of a name or a description. */
export function textOf({ object, version }: State): string {
  return `[${object} v${version}]`;
}

/** The states that an answer tells. */
export function statesIn(text: string): readonly State[] {
  return [...text.matchAll(/\[(\w+) v(\d+)\]/g)].map(([, object = '', version]) => ({
    object,
    version: Number(version),
  }));
}

/** The log of writes. Each object has one writer, which waits for the end of a write before the next. */
export class History {
  /** For each object, when the write of each version was answered; infinite until it is. */
  readonly #answeredAt = new Map<string, number[]>();

  /** The next state of an object, which is about to be written. */
  begin(object: string): State {
    const times = this.#timesOf(object);
    times.push(Number.POSITIVE_INFINITY);
    return { object, version: times.length };
  }

  /** A write was answered. */
  end({ object, version }: State, now: number): void {
    this.#timesOf(object)[version - 1] = now;
  }

  /** For how long a state has been replaced by a later one, in milliseconds; 0 if it is the newest. */
  ageOf({ object, version }: State, now: number): number {
    const replacedAt = Math.min(...this.#timesOf(object).slice(version), now);
    return now - replacedAt;
  }

  #timesOf(object: string): number[] {
    const times = this.#answeredAt.get(object) ?? [];
    this.#answeredAt.set(object, times);
    return times;
  }
}

/** For how long the oldest of some states has been replaced, in milliseconds; undefined if there are none. */
export function ageOfAll(states: readonly State[], history: History, now: number): number | undefined {
  return states.length === 0 ? undefined : Math.max(...states.map((state) => history.ageOf(state, now)));
}
