/**
 * The milliseconds of each second that may be spent on compiling. A compilation that exceeds them is still completed.
 */
const msPerSecond = 100;

/**
 * Bounds the time for which compilations block the event loop. Compiled code pays off only for frequent operations. A
 * client that sends thousands of documents twice each must not block all others.
 */
export class CompileTime {
  readonly #now: () => number;
  #secondBegan = Number.NEGATIVE_INFINITY;
  #spentMs = 0;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `compile` at once. Returns false without running it if the time of this second is used up. */
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
