import { requestError } from './request-error.ts';

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

  /** From now on it takes so many bytes. Throws a GraphQLError where there is no room for that. */
  resize(bytes: number): void {
    if (!this.#take(bytes, bytes - this.#bytes)) throw noRoom();
    this.#bytes = bytes;
  }

  /** Gives everything back. */
  release(): void {
    this.resize(0);
  }
}

/** Up to this length a text is taken for what requests are on average, in characters. */
const shortText = 1024;
const averageFactor = 4;

/** What V8 keeps beside the text for an object, a list or a member, and for an item of a list, in bytes; rounded up. */
const bytesOfMember = 64;
const bytesOfItem = 8;

/** The memory that a text of JSON takes once it is parsed, in bytes: an estimate that is seldom exceeded. */
export function bytesOnceParsed(text: string): number {
  if (text.length <= shortText) return text.length * averageFactor;
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 44) bytes += bytesOfItem;
    else if (code === 58 || code === 91 || code === 123) bytes += bytesOfMember;
  }
  return bytes;
}

function noRoom(): Error {
  return requestError('There is no room for the bodies of more requests now.', {
    code: 'OVERLOADED',
    status: 503,
    // What is still under way of it is not worth waiting for.
    headers: { connection: 'close', 'retry-after': '1' },
  });
}
