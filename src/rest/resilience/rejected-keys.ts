import { LRUCache } from 'lru-cache';
import type { UpstreamError } from '../errors.ts';

/** How long a key that the upstream did not know is refused without asking again, in milliseconds. */
const rejectedMs = 5000;

/** Callers that are remembered: invented keys drive out other invented ones. */
const mostCallers = 10_000;

interface Rejection {
  readonly error: UpstreamError;
  readonly until: number;
}

/** Callers whose key the upstream did not know a moment ago. */
export class RejectedKeys {
  readonly #now: () => number;
  readonly #rejections = new LRUCache<string, Rejection>({ max: mostCallers });

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What the upstream said of a caller's key; undefined if it said nothing, or not lately. */
  errorOf(callerHash: string): UpstreamError | undefined {
    if (this.#rejections.size === 0) return undefined;
    const rejection = this.#rejections.get(callerHash);
    if (rejection === undefined) return undefined;
    if (this.#now() < rejection.until) return rejection.error;
    this.#rejections.delete(callerHash);
    return undefined;
  }

  /** The upstream does not know the key. */
  reject(callerHash: string, error: UpstreamError): void {
    this.#rejections.set(callerHash, { error, until: this.#now() + rejectedMs });
  }

  /** The upstream has answered a call with the key. */
  accept(callerHash: string): void {
    if (this.#rejections.size > 0) this.#rejections.delete(callerHash);
  }
}
