import { UpstreamError } from '../errors.ts';
import { TransportError } from '../transport/transport.ts';
import { longestPause } from './rate-limit-pauses.ts';

/** When a read that has failed is sent again. Writes never are: they may have had an effect. */
export const retryPolicy = {
  /** How often one read is, at the cost of the retry budget. */
  limit: 1,
  /** Failures with one of these statuses, and those without a response. */
  statuses: new Set([429, 502, 503, 504]),
  /** The longest wait that the upstream may ask for; what takes longer is the client's to repeat. */
  longestWaitMs: 5000,
  /** Calls that failed together do not come back together: each waits so long, and up to `spreadMs` more. */
  delayMs: 50,
  spreadMs: 100,
} as const;

/** How a failed read is repeated. */
export type Repeat =
  // A connection that was kept open closed before any byte: nothing was processed, so the repeat costs nothing.
  | { readonly kind: 'free'; readonly delayMs: 0; readonly pauseMs: 0 }
  // Safe to repeat, after waiting, as often as the policy and the budget allow. Its key pauses for `pauseMs` beside that.
  | { readonly kind: 'paid'; readonly delayMs: number; readonly pauseMs: number };

const free: Repeat = { kind: 'free', delayMs: 0, pauseMs: 0 };

/**
 * How a read that failed with `error` may be repeated; undefined if it may not. `mayBeStale`: it was sent on a connection
 * that was kept open.
 */
export function repeatOf(error: unknown, mayBeStale: boolean, random = Math.random): Repeat | undefined {
  const delayMs = retryPolicy.delayMs + random() * retryPolicy.spreadMs;
  if (error instanceof TransportError) {
    if (error.fault === 'stale-socket') return mayBeStale ? free : { kind: 'paid', delayMs: 0, pauseMs: 0 };
    return error.fault === 'network' ? { kind: 'paid', delayMs, pauseMs: 0 } : undefined;
  }
  if (!(error instanceof UpstreamError) || !retryPolicy.statuses.has(error.upstream?.status ?? 0)) return undefined;
  const { retryAfter } = error.upstream ?? {};
  // A rate limit that does not say when it ends would only be hit again; one that does pauses every call of its key.
  if (error.code === 'RATE_LIMITED') {
    const pauseMs = Math.min(retryAfter ?? 0, longestPause) * 1000;
    return retryAfter === undefined ? undefined : { kind: 'paid', delayMs, pauseMs };
  }
  const waitMs = (retryAfter ?? 0) * 1000;
  return waitMs > retryPolicy.longestWaitMs ? undefined : { kind: 'paid', delayMs: waitMs + delayMs, pauseMs: 0 };
}
