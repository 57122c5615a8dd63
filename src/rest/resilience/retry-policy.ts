import { UpstreamError } from '../errors.ts';
import { TransportError } from '../transport/transport.ts';
import { longestPause } from './rate-limit-pauses.ts';

/** The policy for sending failed reads again. Writes are never repeated, because they may have had an effect. */
export const retryPolicy = {
  /** The most retries of one read that take a retry token. */
  limit: 1,
  /** The statuses that are retried. Failures without a response are, too. */
  statuses: new Set([429, 502, 503, 504]),
  /** The longest wait that the upstream may ask for. Beyond it, the client has to repeat the call. */
  longestWaitMs: 5000,
  /**
   * The least delay of a retry. A random part of `spreadMs` is added, so that calls that failed together spread out.
   */
  delayMs: 50,
  spreadMs: 100,
} as const;

/** The way in which a failed read is repeated. */
export type Repeat =
  // The upstream closed a kept-alive connection before the response began, and has processed nothing.
  | { readonly kind: 'free'; readonly delayMs: 0; readonly pauseMs: 0 }
  // Safe to repeat after a delay, if a retry token is left. Other calls of the key also pause, for `pauseMs`.
  | { readonly kind: 'paid'; readonly delayMs: number; readonly pauseMs: number };

const free: Repeat = { kind: 'free', delayMs: 0, pauseMs: 0 };

/**
 * The way in which a failed read may be repeated; undefined if it may not. `mayBeStale` is true if the read was allowed
 * to use a connection that was kept open.
 */
export function repeatOf(error: unknown, mayBeStale: boolean): Repeat | undefined {
  const delayMs = retryPolicy.delayMs + Math.random() * retryPolicy.spreadMs;
  if (error instanceof TransportError) {
    if (error.fault === 'stale-socket') return mayBeStale ? free : { kind: 'paid', delayMs: 0, pauseMs: 0 };
    return error.fault === 'network' ? { kind: 'paid', delayMs, pauseMs: 0 } : undefined;
  }
  if (!(error instanceof UpstreamError) || !retryPolicy.statuses.has(error.upstream?.status ?? 0)) return undefined;
  const { retryAfter } = error.upstream ?? {};
  // Without `Retry-After` a retry would only be refused again. With it, every call of the key pauses.
  if (error.code === 'RATE_LIMITED') {
    const pauseMs = Math.min(retryAfter ?? 0, longestPause) * 1000;
    return retryAfter === undefined ? undefined : { kind: 'paid', delayMs, pauseMs };
  }
  const waitMs = (retryAfter ?? 0) * 1000;
  return waitMs > retryPolicy.longestWaitMs ? undefined : { kind: 'paid', delayMs: waitMs + delayMs, pauseMs: 0 };
}

/** The part of a retry that each first attempt earns. */
const earnedRetries = 0.2;

/** The most retries that can be saved up, so that a long time without failures does not pay for a burst. */
const mostSaved = 10;

/**
 * The token bucket of retries. It keeps them from multiplying the load of a failing upstream: at most 20 % of the reads
 * are repeated, plus ten.
 */
export class RetryTokens {
  #tokens = mostSaved;
  sent = 0;

  /** Earns a part of a retry: a read is sent for the first time. */
  earn(): void {
    this.#tokens = Math.min(this.#tokens + earnedRetries, mostSaved);
  }

  /** Takes one retry; false if there is none left. It stays taken even if the retry is not sent. */
  spend(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
