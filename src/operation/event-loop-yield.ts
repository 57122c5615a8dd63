/** How long operations may begin in one turn of the event loop, in milliseconds. */
const turnMs = 20;

/** Of those that wait so many begin in each further turn. */
const perTurn = 8;

/**
 * Keeps operations that all come at once from having the event loop to themselves: those that do not begin within a
 * while wait for its next turns, so that health checks, answers of the upstream and new connections come in between.
 */
export class EventLoopYield {
  readonly #waiting: (() => void)[] = [];
  /** When operations that come in this turn have to wait. */
  #until = 0;
  /** Whether the end of this turn is awaited. */
  #isOn = false;

  /** Undefined where an operation may begin at once, which is nearly always. `now` is `performance.now()`. */
  take(now: number): Promise<void> | undefined {
    if (!this.#isOn) {
      this.#isOn = true;
      this.#until = now + turnMs;
      setImmediate(this.#end);
    }
    if (this.#waiting.length === 0 && now < this.#until) return undefined;
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  readonly #end = (): void => {
    const next = this.#waiting.splice(0, perTurn);
    this.#isOn = this.#waiting.length > 0;
    if (this.#isOn) setImmediate(this.#end);
    for (const begin of next) begin();
  };
}
