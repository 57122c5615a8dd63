import type { Line } from './attempts.ts';
import type { BreakerState } from './breaker.ts';
import { type CallCount, CallCounts } from './call-counts.ts';
import { Circuits } from './circuits.ts';
import { UpstreamError } from './errors.ts';
import { Pauses } from './pauses.ts';
import { RetryBudget } from './retry-budget.ts';
import { Slots } from './slots.ts';
import { createTransport, type Route } from './transport.ts';

/** Settings of the way to the upstream. */
export interface LineOptions {
  readonly origin: string;
  readonly route?: Route | undefined;
  readonly connections: number;
  readonly maxInFlight: number;
  readonly maxBodyBytes: number;
}

/** How the upstream and the way to it are doing. Counters count since the start. */
export interface UpstreamHealth {
  /** Of the upstream's breaker; those of single keys are nobody else's business. */
  readonly state: BreakerState;
  readonly inFlight: number;
  readonly queued: number;
  /** Reads that were sent a second time. */
  readonly retries: number;
  /** Calls refused because there was no room, or no time, for them. */
  readonly sheds: number;
  /** Reads that were answered by another's call in flight. */
  readonly sharedReads: number;
  readonly calls: readonly CallCount[];
}

/** Connections for probes, which do not wait behind calls that are never answered. */
const spareConnections = 8;

/** The way to the upstream; nothing is sent yet. */
export function createLine({ origin, route, connections, maxInFlight, maxBodyBytes }: LineOptions): Line {
  const now = (): number => performance.now();
  const most = Math.min(maxInFlight, connections);
  const slots = new Slots({ most, now });
  const circuits = new Circuits({ now, onOpen: () => slots.flush(new UpstreamError('UPSTREAM_UNAVAILABLE')) });
  const transport = createTransport({ origin, route, connections: most + spareConnections, maxBodyBytes });
  const pauses = new Pauses(now);
  return { transport, circuits, slots, pauses, budget: new RetryBudget(), counts: new CallCounts(), maxBodyBytes, now };
}

/** A snapshot for metrics and readiness. */
export function healthOf({ circuits, slots, budget, counts }: Line, sharedReads: number): UpstreamHealth {
  const { state } = circuits;
  const { inFlight, queued, sheds } = slots;
  return { state, inFlight, queued, retries: budget.spent, sheds, sharedReads, calls: counts.all() };
}
