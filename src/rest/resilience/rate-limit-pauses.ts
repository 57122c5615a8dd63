import { isRateLimited, UpstreamError } from '../errors.ts';
import { KeyMap } from '../key-map.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';
import type { KeyTrials } from './key-trials.ts';

/** The longest pause, in seconds. If the upstream asks for more, the first call after the pause is refused again. */
export const longestPause = 60;

/** The time between two reads that have waited, in milliseconds, so that they are not all sent at once. */
const staggerMs = 25;

interface Pause {
  readonly until: number;
  readonly waiting: Set<Attempt>;
}

/**
 * The pauses that the upstream asked for (429), by key and surface, because it limits each surface by itself. A read
 * waits if the pause ends before its deadline. A write is refused, so that its client repeats it.
 */
export class RateLimitPauses implements Gate {
  readonly #keys: Pick<KeyTrials, 'isProven'>;
  readonly #pauses = new KeyMap<Pause>();

  constructor(keys: Pick<KeyTrials, 'isProven'>) {
    this.#keys = keys;
  }

  enter(attempt: Attempt): Promise<void> | undefined {
    return this.#pauses.size === 0 || this.#pauseOf(attempt) === undefined ? undefined : this.#waitOut(attempt);
  }

  /** Begins a pause if the answer is a 429 with `Retry-After`. */
  leave(attempt: Attempt, outcome: Outcome): void {
    if (this.#pauses.size > 0) this.#pauses.get(nameOf(attempt))?.waiting.delete(attempt);
    if (outcome.kind !== 'answered' || !isRateLimited(outcome.error)) return;
    const seconds = outcome.error.upstream?.retryAfter ?? 0;
    if (seconds <= 0) return;
    const until = performance.now() + Math.min(seconds, longestPause) * 1000;
    const name = nameOf(attempt);
    const running = this.#pauses.get(name);
    if (running === undefined || running.until < until)
      this.#pauses.set(name, { until, waiting: new Set() }, this.#keys.isProven(attempt.run.caller));
  }

  async #waitOut(attempt: Attempt): Promise<void> {
    for (;;) {
      const pause = this.#pauseOf(attempt);
      if (pause === undefined) return;
      const remainingMs = pause.until - performance.now();
      // A timer may fire a moment early. A read that has its place does not get another one behind all others.
      const before = pause.waiting.has(attempt) ? 0 : pause.waiting.size;
      const delayMs = remainingMs + before * staggerMs;
      if (attempt.request.isWrite || delayMs >= attempt.endsAt - performance.now())
        throw new UpstreamError('RATE_LIMITED', { retryAfter: Math.ceil(remainingMs / 1000) });
      pause.waiting.add(attempt);
      await attempt.sleep(delayMs);
    }
  }

  /** The pause of the attempt's key on its surface; undefined if there is none. */
  #pauseOf(attempt: Attempt): Pause | undefined {
    const name = nameOf(attempt);
    const pause = this.#pauses.get(name);
    if (pause === undefined || pause.until > performance.now()) return pause;
    this.#pauses.delete(name);
    return undefined;
  }
}

function nameOf({ run, request }: Attempt): string {
  return `${request.endpoint.surface} ${run.caller.sharingKey}`;
}
