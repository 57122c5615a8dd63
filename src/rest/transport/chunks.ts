/** The size above which the memory of a buffer is given back at once, in bytes. */
const large = 2 ** 16;

/**
 * Gives the memory of a large buffer back. Leaves a buffer alone that shares its memory with others, such as one from
 * Node's pool. The garbage collector would free the memory much later, because it does not see how large the memory
 * behind a small object is. Nothing may use the buffer afterwards.
 */
export function freeLarge(buffer: Buffer<ArrayBuffer>): void {
  if (buffer.length > large && buffer.buffer.byteLength === buffer.length) buffer.buffer.transfer(0);
}

const empty: Buffer<ArrayBuffer> = Buffer.alloc(0);

/**
 * Collects the chunks of a body in one buffer. However small the chunks are, the buffer has at most twice as many bytes
 * as have been added. If `expected` is known, the buffer of the complete body has exactly that length.
 */
export class Chunks {
  /** The length of the whole body, if it is known. */
  expected: number | undefined;
  #buffer: Buffer = empty;
  #bytes = 0;
  /** The same buffer as `#buffer`; undefined if its memory must not be given back, because other code may use it. */
  #own: Buffer<ArrayBuffer> | undefined;

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a chunk whose bytes will not change. The first chunk is not copied, because most bodies have only one. */
  add(chunk: Buffer): void {
    const start = this.#bytes;
    if (start === 0) this.#buffer = chunk;
    else this.#append(chunk);
    this.#bytes = start + chunk.length;
  }

  /** Adds a copy of bytes that will be overwritten. */
  addCopy(bytes: Buffer): void {
    if (this.#bytes > 0) return this.add(bytes);
    this.#own = Buffer.from(bytes);
    this.add(this.#own);
  }

  /** All bytes. The result shares the memory of the chunks, and is valid until `free`. */
  join(): Buffer {
    return this.#buffer.length === this.#bytes ? this.#buffer : this.#buffer.subarray(0, this.#bytes);
  }

  clear(): void {
    this.#buffer = empty;
    this.#own = undefined;
    this.#bytes = 0;
  }

  free(): void {
    this.#giveBack();
    this.clear();
  }

  #append(chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length;
    if (bytes > this.#buffer.length) {
      const most = 2 * bytes;
      const larger = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(most, this.expected ?? most)));
      larger.set(this.join());
      this.#giveBack();
      this.#own = larger;
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#bytes);
  }

  #giveBack(): void {
    if (this.#own !== undefined) freeLarge(this.#own);
  }
}
