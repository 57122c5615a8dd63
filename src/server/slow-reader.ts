/** How long clients may take for what is sent to them. Each answer holds memory until it is taken. */
export interface ReaderLimits {
  /** What any client has, in milliseconds. */
  readonly graceMs: number;
  /** The least rate beyond that, in bytes a second. */
  readonly bytesPerSecond: number;
}

/** A connection's bytes: those written to it so far, and those of them that the system has not taken yet. */
interface Written {
  readonly bytesWritten: number;
  readonly writableLength: number;
}

/** Watches how fast the client of one connection takes what is sent to it. Times in milliseconds. */
export class SlowReader {
  readonly #limits: ReaderLimits;
  /** Since when something has waited for the client; undefined: nothing does. */
  #since: number | undefined;
  #answer: object | undefined;
  #takenBefore = 0;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /**
   * True if the client is too slow. `answer` is the oldest that it may not have taken: a request that is sent ahead of it
   * gains no time, one that is sent after it begins anew.
   */
  isLate({ bytesWritten, writableLength }: Written, answer: object | undefined, now: number): boolean {
    if (writableLength === 0) this.#since = undefined;
    else if (this.#since === undefined || this.#answer !== answer) {
      this.#since = now;
      this.#answer = answer;
      this.#takenBefore = bytesWritten - writableLength;
    }
    if (this.#since === undefined) return false;
    const { graceMs, bytesPerSecond } = this.#limits;
    return now - this.#since > graceMs + ((bytesWritten - this.#takenBefore) / bytesPerSecond) * 1000;
  }
}
