/** Decides when a worker that ended is started again. Times in milliseconds. */
export interface Restarts {
  /** How long to wait before the worker in this place is started again; undefined: they crash again and again. */
  readonly delayAfterEnd: (place: number) => number | undefined;
}

/** Ends that are older do not count. */
const memoryMs = 60_000;

const firstDelayMs = 100;
const longestDelayMs = 5000;

/** Ends within a minute, for each worker, after which no further start is tried. */
const mostEnds = 5;

/** Waits twice as long after each further end in the same place; gives up if all places see too many. */
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
