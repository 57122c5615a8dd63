/** The retries earned by each first attempt. */
const share = 0.2;

/** The most retries that can be saved up, so that a long time without failures does not pay for a burst. */
const maximum = 10;

/**
 * Keeps retries from multiplying the load of a failing upstream. The retries are at most 20 % of the reads, plus ten.
 */
export class RetryBudget {
  #tokens = maximum;
  #spent = 0;

  /** Retries so far. */
  get spent(): number {
    return this.#spent;
  }

  /** Earns a part of a retry: a read is sent for the first time. */
  earn(): void {
    this.#tokens = Math.min(this.#tokens + share, maximum);
  }

  /** Takes one retry; false if there is none left. */
  spend(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    this.#spent += 1;
    return true;
  }

  /** Gives back a retry that was not sent after all. */
  refund(): void {
    this.#tokens += 1;
    this.#spent -= 1;
  }
}
