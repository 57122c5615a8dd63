import type { EventLoopYield } from '../../event-loop-yield.ts';
import type { Log } from '../../log.ts';
import type { MemoryRoom } from '../../memory.ts';
import { CallCounts } from '../call-counts.ts';
import type { DriftWatch } from '../drift/drift-watch.ts';
import { type RefusedCall, UpstreamError } from '../errors.ts';
import type { CallLimits } from '../ledger.ts';
import { EpochRenewal, type Epochs, LocalEpochs } from '../read-your-writes.ts';
import type { RestRun } from '../rest-run.ts';
import { SingleFlight } from '../single-flight.ts';
import { BodyRoom, type BodyRoomLimits, largestBody } from '../transport/body-room.ts';
import type { Route } from '../transport/connect.ts';
import { Transport } from '../transport/transport.ts';
import { Breakers } from './breakers.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import type { Gate } from './gate.ts';
import { KeyTrials } from './key-trials.ts';
import { RateLimitPauses } from './rate-limit-pauses.ts';
import { Reachability } from './reachability.ts';
import { RetryTokens } from './retry-policy.ts';
import type { UpstreamCall } from './upstream-call.ts';

/** The resources that all calls to the upstream share. Metrics and `/readyz` read them. Counts are since the start. */
export interface UpstreamResources {
  readonly transport: Pick<Transport, 'send' | 'reroute' | 'close'>;
  /** The reads in flight, by target. */
  readonly reads: SingleFlight<UpstreamCall>;
  /** The prefix of every path of the API. */
  readonly prefix: string;
  /** The gates that attempts pass before they are sent, in this order. */
  readonly gates: readonly Gate[];
  readonly keys: KeyTrials;
  readonly epochs: Epochs;
  /** Renews the epoch of a key, so that later operations, and later reads of this one, get no older answers. */
  readonly renewEpoch: (run: RestRun) => Promise<void> | undefined;
  readonly breakers: Breakers;
  readonly limiter: ConcurrencyLimiter;
  readonly retries: RetryTokens;
  /** Undefined if calls are not limited. */
  readonly limits: CallLimits | undefined;
  /** Called if the gateway refuses a call for which a client waits. */
  readonly onRefused: ((refusal: RefusedCall) => void) | undefined;
  readonly bodies: BodyRoom;
  readonly eventLoop: EventLoopYield;
  readonly counts: CallCounts;
  /** Compares answers with the OpenAPI document; undefined if none are compared. */
  readonly drift: DriftWatch | undefined;
  readonly reachability: Reachability;
  /**
   * The time in which a write that was given up may still arrive, in milliseconds; undefined if no answers are kept.
   */
  readonly lateWriteMs: number | undefined;
}

/** Settings for calls to the upstream. */
export interface UpstreamOptions {
  /** An absolute URL. Its path, if it has one, is put before every path of the API. */
  readonly url: string;
  readonly route?: Route | undefined;
  readonly connections: number;
  /** The maximum number of calls in flight. Further calls wait. */
  readonly maxInFlight: number;
  readonly bodyRoomLimits: BodyRoomLimits;
  /** The memory of the process; undefined means that it is unlimited. */
  readonly memory?: MemoryRoom | undefined;
  readonly eventLoop: EventLoopYield;
  /** The gate that reserves calls of a ledger; undefined if calls are not limited. */
  readonly limits?: (CallLimits & Gate) | undefined;
  readonly onRefused?: ((refusal: RefusedCall) => void) | undefined;
  readonly drift?: DriftWatch | undefined;
  /** The epochs of keys, if other processes renew them, too; by default only this process does. */
  readonly epochs?: Epochs | undefined;
  /** The log for changes of the upstream's state. */
  readonly log: Log;
}

/** The age up to which other operations may join a read, in milliseconds. An older read may never be answered. */
const joinWindowMs = 1000;

/** Extra connections for probes, so that they do not wait behind calls that are never answered. */
const spareConnections = 8;

/** Makes the resources that calls share; nothing is sent yet. */
export function createUpstreamResources(options: UpstreamOptions, lateWriteMs?: number): UpstreamResources {
  const { url, route, connections, maxInFlight, eventLoop, limits, log } = options;
  const { epochs = new LocalEpochs() } = options;
  const { origin, pathname, host } = new URL(url);
  const most = Math.min(maxInFlight, connections);
  const limiter = new ConcurrencyLimiter(most);
  const keys = new KeyTrials();
  const bodies = new BodyRoom(options.bodyRoomLimits, options.memory);
  const reachability = new Reachability({ host, proxyHost: route?.proxy && new URL(route.proxy).host, log });
  const breakers = new Breakers({
    onOpen: () => {
      const { kind: _kind, ...failing } = reachability.state;
      log('warn', 'circuit breaker open', { host, ...failing });
    },
    onClose: () => log('info', 'circuit breaker closed', { host }),
    onFailedProbe: () => {
      const unavailable = new UpstreamError('UPSTREAM_UNAVAILABLE');
      keys.flush(unavailable);
      limiter.flush(unavailable);
    },
  });
  const counts = new CallCounts();
  const epochRenewal = new EpochRenewal(epochs, keys);
  // The order matters. Keys come first: each gateway counts an unproven key alone, so only its calls on trial may be
  // reserved. The limits come next, because a whole wave is reserved together. Rate limit pauses follow both, because a
  // pause may begin while a call waits for its key or its reservation. The slot is taken after these gates, so
  // that no call holds a slot while it waits there. The last two gates only learn from the end of attempts.
  const gates: readonly (Gate | undefined)[] = [
    keys,
    limits,
    new RateLimitPauses(keys),
    breakers,
    limiter,
    epochRenewal,
    reachability,
    counts,
  ];
  return {
    transport: new Transport({
      origin,
      route,
      connections: most + spareConnections,
      maxBodyBytes: largestBody,
      room: bodies,
    }),
    prefix: pathname.replace(/\/+$/, ''),
    gates: gates.filter((gate) => gate !== undefined),
    reads: new SingleFlight(joinWindowMs),
    retries: new RetryTokens(),
    ...{ limits, onRefused: options.onRefused, counts, drift: options.drift },
    ...{
      epochs,
      renewEpoch: epochRenewal.renew,
      lateWriteMs,
      breakers,
      keys,
      limiter,
      bodies,
      eventLoop,
      reachability,
    },
  };
}
