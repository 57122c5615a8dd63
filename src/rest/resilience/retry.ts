import { UpstreamError } from '../errors.ts';
import { TransportError } from '../transport/transport.ts';

/** Whether a failed attempt of a read is repeated. Writes never are: they may have had an effect. */
export type Retry =
  | { readonly kind: 'never' }
  // A kept-alive socket that closed before any byte: nothing was processed, so this one is free.
  | { readonly kind: 'free' }
  // Safe to repeat once, after waiting.
  | { readonly kind: 'once'; readonly delayMs: number };

const retried = new Set([429, 502, 503, 504]);

/** The longest wait that the upstream may ask for before a retry; what takes longer is the caller's to repeat. */
const longestWaitMs = 5000;

/** What to do about a read's failure; `error` is what the transport or the response's status said. */
export function retryOf(error: unknown, random = Math.random): Retry {
  if (error instanceof TransportError) {
    if (error.fault === 'stale-socket') return { kind: 'free' };
    return error.fault === 'network' ? { kind: 'once', delayMs: jittered(random) } : { kind: 'never' };
  }
  if (!(error instanceof UpstreamError) || !retried.has(error.upstream?.status ?? 0)) return { kind: 'never' };
  const told = error.upstream?.retryAfter;
  // A rate limit that does not say when it ends would only be hit again; one that does pauses every call of its key.
  if (error.code === 'RATE_LIMITED')
    return told === undefined ? { kind: 'never' } : { kind: 'once', delayMs: jittered(random) };
  const waitMs = (told ?? 0) * 1000;
  return waitMs > longestWaitMs ? { kind: 'never' } : { kind: 'once', delayMs: waitMs + jittered(random) };
}

/** 50 to 150 ms: callers that failed together do not come back together. */
function jittered(random: () => number): number {
  return 50 + random() * 100;
}
