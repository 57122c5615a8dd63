/** The distribution of values over the buckets of a histogram. */
export interface Distribution {
  /** Values by the first bound that they do not exceed; the last number is of those that exceed all. */
  readonly counts: readonly number[];
  /** Of all values. */
  readonly sum: number;
}

/** Adds values up without making anything: each operation and each call comes by. */
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
