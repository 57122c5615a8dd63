/** The least speed at which clients have to read. Each answer holds memory until it has been read. */
export interface ReaderLimits {
  /** The grace period of every client, in milliseconds. */
  readonly graceMs: number;
  /** The least rate after the grace period, in bytes a second. */
  readonly bytesPerSecond: number;
}

/** The bytes of a connection: those written so far, and those that the operating system has not taken yet. */
interface Written {
  readonly bytesWritten: number;
  readonly writableLength: number;
}

/** Measures how fast the client of one connection reads. Times in milliseconds. */
export class SlowReader {
  readonly #limits: ReaderLimits;
  /** The time since when output has waited for the client; undefined if none waits. */
  #since: number | undefined;
  #answer: object | undefined;
  #takenBefore = 0;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /**
   * True if the client is too slow. `answer` is the oldest one that the client may not have read. A pipelined request
   * gains no time; a request that is sent after the answer starts a new period.
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
