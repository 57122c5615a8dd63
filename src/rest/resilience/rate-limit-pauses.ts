import { LRUCache } from 'lru-cache';
import type { RestOperation } from '../operation-ids.ts';

/** The longest pause in seconds: a caller that is refused for longer tries once after it, and is refused again. */
const longestPause = 60;

/** Between two reads that waited, so that they do not come back as one. */
const staggerMs = 25;

/** More callers than can be paused at once are not remembered. */
const mostPauses = 10_000;

interface Pause {
  readonly until: number;
  waiting: number;
}

/** The pauses that the upstream asked for (429), each of one key on one of the surfaces that it limits apart. */
export class RateLimitPauses {
  readonly #now: () => number;
  readonly #pauses: LRUCache<string, Pause>;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
    this.#pauses = new LRUCache({ max: mostPauses });
  }

  /** Whether no caller has been paused lately. */
  get none(): boolean {
    return this.#pauses.size === 0;
  }

  /** The upstream told this caller to come back in so many seconds. */
  begin(sharingKey: string, operation: RestOperation, seconds: number): void {
    if (seconds <= 0) return;
    const until = this.#now() + Math.min(seconds, longestPause) * 1000;
    const name = nameOf(sharingKey, operation);
    const running = this.#pauses.get(name);
    if (running === undefined || running.until < until) this.#pauses.set(name, { until, waiting: 0 });
  }

  /** Milliseconds until this caller may ask on this surface again; 0 if it may now. */
  remaining(sharingKey: string, operation: RestOperation): number {
    if (this.none) return 0;
    const name = nameOf(sharingKey, operation);
    const pause = this.#pauses.get(name);
    if (pause === undefined) return 0;
    const milliseconds = pause.until - this.#now();
    if (milliseconds > 0) return milliseconds;
    this.#pauses.delete(name);
    return 0;
  }

  /** Reserves a start behind the pause: milliseconds to wait for it, less than `limitMs`; undefined if there is none in time. */
  reserveDelay(sharingKey: string, operation: RestOperation, limitMs: number): number | undefined {
    const remaining = this.remaining(sharingKey, operation);
    const pause = this.#pauses.get(nameOf(sharingKey, operation));
    const delayMs = remaining + (pause?.waiting ?? 0) * staggerMs;
    if (delayMs >= limitMs) return undefined;
    if (pause !== undefined) pause.waiting += 1;
    return delayMs;
  }
}

function nameOf(sharingKey: string, { surface }: RestOperation): string {
  return `${surface} ${sharingKey}`;
}
