import { requestError } from '../operation/request-error.ts';

/** What the bodies of requests may take together, in bytes of memory, unless single ones may be very large. */
const leastBytes = 64 * 2 ** 20;

/** How many of the largest bodies fit at least, of ordinary JSON. */
const largestBodies = 8;

/** Larger bodies leave the last quarter to those that are not: a few of them must not keep all others out. */
const largeBytes = 16_384;
const shareOfLarge = 0.75;

/** The memory that the bodies of requests in flight take in this process, from their first byte to their answer. */
export class BodyBudget {
  readonly #bytes: number;
  #taken = 0;

  /** `largest` is the most bytes that one body may have. */
  constructor(largest: number) {
    this.#bytes = Math.max(leastBytes, largestBodies * largest);
  }

  /** A claim of nothing yet. */
  claim(): BodyClaim {
    return new BodyClaim((bytes, more) => {
      const most = bytes > largeBytes ? this.#bytes * shareOfLarge : this.#bytes;
      if (more > 0 && this.#taken + more > most) return false;
      this.#taken += more;
      return true;
    });
  }
}

/** What one body takes of the budget. */
export class BodyClaim {
  readonly #take: (bytes: number, more: number) => boolean;
  #bytes = 0;

  constructor(take: (bytes: number, more: number) => boolean) {
    this.#take = take;
  }

  /** From now on it takes so many bytes. Throws a GraphQLError if there is no room for that. */
  resize(bytes: number): void {
    if (!this.#take(bytes, bytes - this.#bytes)) throw requestError('noRoomForBody', noRoom);
    this.#bytes = bytes;
  }

  /** Of a large body only so much is kept; `bytesOf` counts it. */
  shrink(bytesOf: () => number): void {
    if (this.#bytes > largeBytes) this.resize(Math.min(this.#bytes, bytesOf()));
  }

  /** Gives everything back. */
  release(): void {
    this.resize(0);
  }
}

const noRoom = 'There is no room for the bodies of more requests now.';
