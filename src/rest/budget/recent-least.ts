/** Half of the time for which a value counts, in milliseconds. */
const halfMs = 30_000;

/** The least value of the last minute, or of a little less. Needs no timer. */
export class RecentLeast {
  readonly #now: () => number;
  #since: number;
  #current = Number.POSITIVE_INFINITY;
  #before = Number.POSITIVE_INFINITY;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  add(value: number): void {
    this.#forget();
    if (value < this.#current) this.#current = value;
  }

  /** Undefined if there were no values. */
  get value(): number | undefined {
    this.#forget();
    const least = Math.min(this.#current, this.#before);
    return least === Number.POSITIVE_INFINITY ? undefined : least;
  }

  #forget(): void {
    const age = this.#now() - this.#since;
    if (age < halfMs) return;
    this.#before = age < 2 * halfMs ? this.#current : Number.POSITIVE_INFINITY;
    this.#current = Number.POSITIVE_INFINITY;
    this.#since += Math.floor(age / halfMs) * halfMs;
  }
}
