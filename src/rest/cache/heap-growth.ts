import { setFlagsFromString } from 'node:v8';

/** The interval in which kept bytes are counted before the limit is decided anew, in milliseconds. */
const slotMs = 10_000;

/** The share of the cache that has to be written within one interval for V8 to be held back. */
const much = 1 / 4;

/** The limit on the growth of V8's old generation before a collection, in percent; 0 leaves it to V8. */
const smallStep = 30;

/**
 * Makes V8 collect garbage sooner while many answers enter a cache, and at the start. Evicted answers are garbage in the old
 * generation, which V8 would let grow to several times the live size. Early collections cost CPU, so they end once few
 * answers come. A burst after that keeps V8's own limit until the next collection.
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

  /** Counts the bytes of an answer that was kept. */
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
