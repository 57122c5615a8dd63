/** Decides when a worker that ended is started again. Times in milliseconds. */
export interface Restarts {
  /** The delay before the worker in this place is started again; undefined if workers keep crashing. */
  readonly delayAfterEnd: (place: number) => number | undefined;
}

/** The time for which the end of a worker counts, in milliseconds. */
const memoryMs = 60_000;

const firstDelayMs = 100;
const longestDelayMs = 5000;

/** The most ends within a minute for each worker, after which none is started. */
const mostEnds = 5;

/** Doubles the delay after each further end in the same place. Gives up after too many ends in all places together. */
export function createRestarts(workers: number, now: () => number): Restarts {
  let ends: { readonly place: number; readonly at: number }[] = [];
  return {
    delayAfterEnd: (place) => {
      const at = now();
      ends = [...ends.filter((end) => at - end.at < memoryMs), { place, at }];
      if (ends.length >= mostEnds * workers) return undefined;
      const times = ends.filter((end) => end.place === place).length;
      return Math.min(firstDelayMs * 2 ** (times - 1), longestDelayMs);
    },
  };
}
