const mebibyte = 2 ** 20;

/** Memory that one process has for answers that are being made or that their clients have not taken yet, in bytes. */
export class AnswerRoom {
  readonly #limit: number;
  #taken = 0;

  constructor(limit: number = 96 * mebibyte) {
    this.#limit = limit;
  }

  /** True if nothing more can be begun. */
  get isFull(): boolean {
    return this.#taken >= this.#limit;
  }

  /** Bytes of it that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** True if there is room for so many bytes. */
  fits(bytes: number): boolean {
    return this.#taken + bytes <= this.#limit;
  }

  /** Takes room if there is enough; false if there is not. */
  take(bytes: number): boolean {
    if (!this.fits(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  /** Gives room back. */
  release(bytes: number): void {
    this.#taken -= bytes;
  }
}
