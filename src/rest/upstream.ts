import { checkUpstream } from './check-upstream.ts';
import { type Caller, CallerClient, type CallingOperation, type RestClient, type Shared } from './client.ts';
import { UpstreamError } from './errors.ts';
import { createLine, healthOf, type UpstreamHealth } from './resilience/line.ts';
import type { ReachabilityLog } from './resilience/reachability.ts';
import { RejectedKeys } from './resilience/rejected-keys.ts';
import { SingleFlight } from './single-flight.ts';
import { type BodyLimits, BodyRoom } from './transport/body-room.ts';
import type { Route } from './transport/pools.ts';

/** Settings of the REST side. */
export interface UpstreamOptions {
  /** Absolute URL, possibly with a path that is put before every path of the API. */
  readonly url: string;
  readonly route?: Route | undefined;
  readonly connections: number;
  /** Most calls in flight; those beyond it wait. */
  readonly maxInFlight: number;
  readonly maxBodyBytes: number;
  readonly bodyLimits: BodyLimits;
  /** Hears of how the upstream is doing. */
  readonly log: ReachabilityLog;
}

/** The REST API, shared by all operations. */
export interface Upstream {
  readonly clientFor: (caller: Caller | undefined, operation: CallingOperation) => RestClient;
  /** Why no call of this caller can succeed, as far as that is known before one is made: there is no usable key. */
  readonly refusalOf: (caller: Caller | undefined) => UpstreamError | undefined;
  /** Whether a call of this caller would be shed at once: then its operation need not begin. */
  readonly overloaded: (caller: Caller | undefined) => boolean;
  readonly health: () => UpstreamHealth;
  /** Asks the upstream once, without a key. Resolves to a phrase that says what came; never rejects. */
  readonly check: () => Promise<string>;
  /** From now on calls take this route; those in flight end as they began. */
  readonly reroute: (route: Route) => void;
  readonly close: () => Promise<void>;
}

/** How long after its start a read may be joined, in milliseconds: an older one may be one that is never answered. */
const joinWindowMs = 1000;

/** Connects to the REST API at `url`; nothing is sent yet. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(options.url);
  const bodies = new BodyRoom(options.bodyLimits);
  const line = createLine({ ...options, origin, room: bodies });
  const shared: Shared = {
    line,
    bodies,
    prefix: pathname.replace(/\/+$/, ''),
    json: new SingleFlight({ joinWindowMs, now: line.now }),
    csv: new SingleFlight({ joinWindowMs, now: line.now }),
    rejected: new RejectedKeys(line.now),
  };
  return {
    clientFor: (caller, operation) =>
      caller === undefined ? anonymousClient : new CallerClient(shared, caller, operation),
    refusalOf: (caller) =>
      caller === undefined ? new UpstreamError('UNAUTHENTICATED') : shared.rejected.errorOf(caller.hash),
    overloaded: (caller) => caller !== undefined && line.limiter.isFull(caller.hash),
    health: () => healthOf(line, shared.json.joined + shared.csv.joined),
    check: () => checkUpstream(line, shared.prefix),
    reroute: (route) => line.transport.reroute(route),
    close: () => line.transport.close(),
  };
}

/** Without a well-formed key nothing is sent. */
const anonymousClient: RestClient = {
  getJson: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
  getCsv: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
  write: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
};
