/** Milliseconds of each second that may be spent on compiling, one compilation beyond them included. */
const msPerSecond = 100;

/**
 * Bounds the time for which compiling operations keeps the event loop: code pays for itself only if an operation comes again and
 * again, and a client that sends thousands of documents twice each must not stop all others.
 */
export class CompileTime {
  readonly #now: () => number;
  #secondBegan = Number.NEGATIVE_INFINITY;
  #spentMs = 0;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `compile` at once, or answers false if nothing is left of this second. */
  spend(compile: () => void): boolean {
    const startedAt = this.#now();
    if (startedAt - this.#secondBegan >= 1000) {
      this.#secondBegan = startedAt;
      this.#spentMs = 0;
    }
    if (this.#spentMs >= msPerSecond) return false;
    compile();
    this.#spentMs += this.#now() - startedAt;
    return true;
  }
}
