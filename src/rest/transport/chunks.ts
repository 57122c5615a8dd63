/** The number of chunks that are joined to one, because even a chunk of a few bytes takes a hundred bytes of memory. */
const together = 256;

const empty: Buffer = Buffer.alloc(0);

/** Collects the chunks of a body. However small they are, they take little more memory than their bytes. */
export class Chunks {
  /** The first chunk. Most bodies have only one, and need no lists. */
  #first: Buffer | undefined;
  #blocks: Buffer[] | undefined;
  #loose: Buffer[] | undefined;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#first === undefined) {
      this.#first = chunk;
      return;
    }
    this.#loose ??= [];
    if (this.#loose.push(chunk) < together) return;
    this.#blocks ??= [];
    this.#blocks.push(Buffer.concat(this.#loose));
    this.#loose = undefined;
  }

  join(): Buffer {
    if (this.#first === undefined) return empty;
    if (this.#blocks === undefined && this.#loose === undefined) return this.#first;
    return Buffer.concat([this.#first, ...(this.#blocks ?? []), ...(this.#loose ?? [])], this.#bytes);
  }

  clear(): void {
    this.#first = undefined;
    this.#blocks = undefined;
    this.#loose = undefined;
    this.#bytes = 0;
  }
}
