import { UpstreamError } from './errors.ts';
import { TransportError } from './transport.ts';

/** Whether a failed attempt of a read is repeated. Writes never are: they may have had an effect. */
export type Retry =
  | { readonly kind: 'never' }
  // A kept-alive socket that closed before any byte: nothing was processed, so this one is free.
  | { readonly kind: 'free' }
  // Safe to repeat once, after waiting.
  | { readonly kind: 'once'; readonly delayMs: number };

const retried = new Set([429, 502, 503, 504]);

/** What to do about a read's failure; `error` is what the transport or the response's status said. */
export function retryOf(error: unknown, random = Math.random): Retry {
  if (error instanceof TransportError) {
    if (error.fault === 'stale-socket') return { kind: 'free' };
    return error.fault === 'network' ? { kind: 'once', delayMs: jittered(random) } : { kind: 'never' };
  }
  if (!(error instanceof UpstreamError) || !retried.has(error.upstream?.status ?? 0)) return { kind: 'never' };
  const told = error.upstream?.retryAfter;
  if (told !== undefined) return { kind: 'once', delayMs: told * 1000 + jittered(random) };
  // A rate limit that does not say when it ends would only be hit again.
  return error.code === 'RATE_LIMITED' ? { kind: 'never' } : { kind: 'once', delayMs: jittered(random) };
}

/** 50 to 150 ms: callers that failed together do not come back together. */
function jittered(random: () => number): number {
  return 50 + random() * 100;
}
