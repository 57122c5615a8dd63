import { setTimeout as sleep } from 'node:timers/promises';
import type { Dialect } from './dialects.ts';
import { ApiError } from './errors.ts';
import { createThrottle, type Rates, type Throttle } from './throttle.ts';

/** Ways in which a deployment can be slow, small or unwell. All are off by default. */
export interface Switches {
  /** Milliseconds by which every answer is late. */
  readonly latencyMs?: number | undefined;
  /** Share of requests, 0 to 1, that are answered 503. */
  readonly errorRate?: number | undefined;
  /** Largest page of any list, whatever `limit` says. */
  readonly pageCap?: number | undefined;
  /** Requests that one key may make on each surface. */
  readonly rates?: Rates | undefined;
  /**
   * Longest time in milliseconds that finding the events of one request may take, 2,000 by default: the process does nothing
   * else meanwhile.
   */
  readonly searchTimeMs?: number | undefined;
  /** The parameters in the `next` of events. */
  readonly eventsNext?: EventsNext | undefined;
  /** Whose answers it gives, those of the document by default. */
  readonly dialect?: Dialect | undefined;
}

/**
 * The parameters in the `next` of events: `limit` and `offset`, as the contract says (§ 8), or `before` and the timestamp
 * of the last row, as in the known deployment.
 */
export type EventsNext = 'offset' | 'before';

/** Delays, failures and limits that a request meets first. */
export interface Faults {
  /** Waits, then throws for the requests that are to fail. */
  readonly strike: () => Promise<void>;
  readonly throttle: Throttle;
}

/** Turns switches into faults. */
export function createFaults(switches: Switches): Faults {
  const { latencyMs = 0, errorRate = 0, rates = {} } = switches;
  let requests = 0;
  return {
    strike: async () => {
      requests += 1;
      const fails = Math.floor(requests * errorRate) > Math.floor((requests - 1) * errorRate);
      if (latencyMs > 0) await sleep(latencyMs);
      if (fails) throw new ApiError(503, 'error', 'The service is temporarily unavailable.');
    },
    throttle: createThrottle(rates),
  };
}
