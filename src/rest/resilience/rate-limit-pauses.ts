import { LRUCache } from 'lru-cache';
import { isRateLimited, UpstreamError } from '../errors.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';

/** The longest pause in seconds: a caller that is refused for longer tries once after it, and is refused again. */
export const longestPause = 60;

/** Between two reads that waited, so that they do not come back as one. */
const staggerMs = 25;

/** More callers than can be paused at once are not remembered. */
const mostPauses = 10_000;

interface Pause {
  readonly until: number;
  waiting: number;
}

/**
 * The pauses that the upstream asked for (429), each of one key on one of the surfaces that it limits apart. Reads wait if
 * the pause ends in time; a write is its client's to repeat.
 */
export class RateLimitPauses implements Gate {
  readonly #now: () => number;
  readonly #pauses: LRUCache<string, Pause>;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
    this.#pauses = new LRUCache({ max: mostPauses });
  }

  enter(attempt: Attempt): Promise<void> | undefined {
    return this.#pauses.size === 0 || this.#pauseOf(attempt) === undefined ? undefined : this.#waitOut(attempt);
  }

  /** A 429 may tell the caller to come back in so many seconds. */
  left(attempt: Attempt, outcome: Outcome): void {
    if (outcome.kind !== 'answered' || !isRateLimited(outcome.error)) return;
    const { error } = outcome;
    const seconds = (error instanceof UpstreamError ? error.upstream?.retryAfter : undefined) ?? 0;
    if (seconds <= 0) return;
    const until = this.#now() + Math.min(seconds, longestPause) * 1000;
    const name = nameOf(attempt);
    const running = this.#pauses.get(name);
    if (running === undefined || running.until < until) this.#pauses.set(name, { until, waiting: 0 });
  }

  async #waitOut(attempt: Attempt): Promise<void> {
    for (;;) {
      const pause = this.#pauseOf(attempt);
      if (pause === undefined) return;
      const remainingMs = pause.until - this.#now();
      const delayMs = remainingMs + pause.waiting * staggerMs;
      if (attempt.request.isWrite || delayMs >= attempt.endsAt - this.#now())
        throw new UpstreamError('RATE_LIMITED', { retryAfter: Math.ceil(remainingMs / 1000) });
      pause.waiting += 1;
      await attempt.sleep(delayMs);
    }
  }

  /** The pause of its caller on its surface; undefined if it may be sent now. */
  #pauseOf(attempt: Attempt): Pause | undefined {
    const name = nameOf(attempt);
    const pause = this.#pauses.get(name);
    if (pause === undefined || pause.until > this.#now()) return pause;
    this.#pauses.delete(name);
    return undefined;
  }
}

function nameOf({ owner, request }: Attempt): string {
  return `${request.operation.surface} ${owner.caller.sharingKey}`;
}
