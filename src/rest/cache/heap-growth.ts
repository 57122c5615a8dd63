import { setFlagsFromString } from 'node:v8';

/** How long answers that are kept are counted before it is decided anew, in milliseconds. */
const slotMs = 10_000;

/** The share of the cache that has to be kept within that time. */
const much = 1 / 4;

/** How much V8 then lets what lives long grow before it collects it, in percent; 0 leaves that to V8. */
const smallStep = 30;

/**
 * Has V8 collect garbage sooner while many answers come into a cache, and at first: those that make room for others are garbage
 * among what lives long, of which V8 would let several times as much come together as is alive. That costs CPU, so it ends
 * once few come. A burst after that finds the limit that V8 has set itself meanwhile, until its next collection.
 */
export class HeapGrowth {
  readonly #muchBytes: number;
  readonly #setPercent: (percent: number) => void;
  #since = performance.now();
  #bytes = 0;
  #isTight = false;

  constructor(maxBytes: number, setPercent = setGrowth) {
    this.#muchBytes = maxBytes * much;
    this.#setPercent = setPercent;
    this.#tighten();
  }

  /** An answer of so many bytes was kept. */
  readonly kept = (bytes: number): void => {
    if (!this.#isTight && performance.now() - this.#since >= slotMs) this.#begin();
    this.#bytes += bytes;
    if (!this.#isTight && this.#bytes >= this.#muchBytes) this.#tighten();
  };

  #begin(): void {
    this.#since = performance.now();
    this.#bytes = 0;
  }

  #tighten(): void {
    this.#isTight = true;
    this.#setPercent(smallStep);
    this.#decideLater();
  }

  #decideLater(): void {
    this.#begin();
    setTimeout(() => {
      if (this.#bytes >= this.#muchBytes) return this.#decideLater();
      this.#isTight = false;
      this.#setPercent(0);
    }, slotMs).unref();
  }
}

function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
