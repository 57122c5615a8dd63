/** The distribution of values over the buckets of a histogram. */
export interface Distribution {
  /**
   * The number of values in each bucket. A value belongs to the first bucket whose bound is not below the value. The
   * last number counts the values above all bounds.
   */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Adds up values. It allocates nothing, because it runs for each operation and each call. */
export class Tally implements Distribution {
  readonly counts: number[];
  sum = 0;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  add(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}
