/** Retries allowed for each first attempt. */
const share = 0.2;

/** Most retries that can be saved up, so that a long calm does not pay for a storm. */
const maximum = 10;

/**
 * Keeps retries from multiplying the load of an upstream that fails: for any number of reads there are at most 20 % as
 * many retries, and ten.
 */
export class RetryBudget {
  #tokens = maximum;
  #spent = 0;

  /** Retries so far. */
  get spent(): number {
    return this.#spent;
  }

  /** A read is sent for the first time. */
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
