/** So many chunks become one: a chunk of few bytes takes a hundred bytes of memory and more. */
const together = 256;

/** Collects the chunks of a body. However small they are, they take little more memory than their bytes. */
export class Chunks {
  readonly #blocks: Buffer[] = [];
  #loose: Buffer[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#loose.push(chunk) < together) return;
    this.#blocks.push(Buffer.concat(this.#loose));
    this.#loose = [];
  }

  /** All of them as one. */
  join(): Buffer {
    const [only] = this.#loose;
    if (this.#blocks.length === 0 && this.#loose.length === 1 && only !== undefined) return only;
    return Buffer.concat([...this.#blocks, ...this.#loose], this.#bytes);
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#loose = [];
    this.#bytes = 0;
  }
}
