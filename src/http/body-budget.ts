import { requestError } from '../operation/request-error.ts';

/** The least memory for the bodies of all requests, in bytes; it is larger if a single body may be very large. */
const leastBytes = 64 * 2 ** 20;

/** The least number of the largest bodies, of ordinary JSON, that fit into the budget. */
const largestBodies = 8;

/** Bodies of more bytes may use only this share of the budget, so that a few of them cannot keep out all others. */
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

  /** Makes an empty claim. */
  claim(): BodyClaim {
    return new BodyClaim((bytes, more) => {
      const most = bytes > largeBytes ? this.#bytes * shareOfLarge : this.#bytes;
      if (more > 0 && this.#taken + more > most) return false;
      this.#taken += more;
      return true;
    });
  }
}

/** The claim of one body to the budget. */
export class BodyClaim {
  readonly #take: (bytes: number, more: number) => boolean;
  #bytes = 0;

  constructor(take: (bytes: number, more: number) => boolean) {
    this.#take = take;
  }

  /** Changes the claim to this number of bytes. Throws a GraphQLError if there is no room for them. */
  resize(bytes: number): void {
    if (!this.#take(bytes, bytes - this.#bytes)) throw requestError('noRoomForBody', noRoom);
    this.#bytes = bytes;
  }

  /** Reduces the claim of a large body to the part that is kept, which `bytesOf` counts. */
  shrink(bytesOf: () => number): void {
    if (this.#bytes > largeBytes) this.resize(Math.min(this.#bytes, bytesOf()));
  }

  /** Releases the whole claim. */
  release(): void {
    this.resize(0);
  }
}

const noRoom = 'There is no room for the bodies of more requests now.';
