import { setTimeout as sleep } from 'node:timers/promises';
import type { Dialect } from './dialects.ts';
import { ApiError } from './errors.ts';

/** Ways in which a deployment can be slow, small or unwell. All are off by default. */
export interface Switches {
  /** Milliseconds by which every answer is late. */
  readonly latencyMs?: number | undefined;
  /** Share of requests, 0 to 1, that are answered 503. */
  readonly errorRate?: number | undefined;
  /** Largest page of any list, whatever `limit` says. */
  readonly pageCap?: number | undefined;
  /** Requests that one key may make in a minute. */
  readonly requestsPerMinute?: number | undefined;
  /**
   * Longest time in milliseconds that finding the events of one request may take, 2,000 by default: the process does nothing
   * else meanwhile.
   */
  readonly searchTimeMs?: number | undefined;
  /** How the `next` of events goes on. */
  readonly eventsNext?: EventsNext | undefined;
  /** Whose answers it gives, those of the document by default. */
  readonly dialect?: Dialect | undefined;
}

/**
 * How the `next` of events goes on: by `limit` and `offset`, as the contract says (§ 8), or by `before` and the timestamp of
 * the last row, as the known deployment does.
 */
export type EventsNext = 'offset' | 'before';

/** What is done before each request. */
export interface Faults {
  /** Waits, then throws for the requests that are to fail. */
  readonly strike: () => Promise<void>;
  /** Counts a request of `key`, and throws for those beyond the limit. */
  readonly throttle: (key: string) => void;
}

/** Turns switches into faults. */
export function createFaults(switches: Switches): Faults {
  const { latencyMs = 0, errorRate = 0, requestsPerMinute = Number.POSITIVE_INFINITY } = switches;
  let requests = 0;
  return {
    strike: async () => {
      requests += 1;
      const fails = Math.floor(requests * errorRate) > Math.floor((requests - 1) * errorRate);
      if (latencyMs > 0) await sleep(latencyMs);
      if (fails) throw new ApiError(503, 'error', 'The service is temporarily unavailable.');
    },
    throttle: createThrottle(requestsPerMinute),
  };
}

const minute = 60_000;

/** Counts from a key's first request for one minute, then anew. */
function createThrottle(requestsPerMinute: number): (key: string) => void {
  const windows = new Map<string, { readonly ends: number; count: number }>();
  return (key) => {
    const now = Date.now();
    const known = windows.get(key);
    const window = known === undefined || known.ends <= now ? { ends: now + minute, count: 0 } : known;
    windows.set(key, window);
    window.count += 1;
    if (window.count <= requestsPerMinute) return;
    const seconds = Math.ceil((window.ends - now) / 1000);
    throw new ApiError(429, 'throttled', `Request was throttled. Expected available in ${seconds} seconds.`, {
      headers: { 'retry-after': String(seconds) },
    });
  };
}
