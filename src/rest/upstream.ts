import type { CallBudget } from './budget/call-budget.ts';
import { AnswerCache, type CacheOptions } from './cache/answer-cache.ts';
import { CachedClient } from './cache/cached-client.ts';
import type { Caller } from './caller.ts';
import { checkUpstream } from './check-upstream.ts';
import { CallerClient, type RestClient, type Shared } from './client.ts';
import { OperationEpoch, type Reuse } from './epochs.ts';
import { UpstreamError } from './errors.ts';
import type { CallingOperation } from './resilience/upstream-call.ts';
import {
  createUpstreamResources,
  healthOf,
  type UpstreamHealth,
  type UpstreamOptions,
} from './resilience/upstream-resources.ts';
import { csvOf, jsonOf } from './response-content.ts';
import { SingleFlight } from './single-flight.ts';
import { type HeldKeyFaults, HeldKeys, keyUnavailable, TenantClient } from './tenant-client.ts';
import type { Route } from './transport/connect.ts';

/** The REST API, shared by all operations. */
export interface Upstream {
  readonly clientFor: (caller: Caller | undefined, operation: CallingOperation) => RestClient;
  /** The error of a caller whose key is already known to be unusable, before a call is made. */
  readonly refusalOf: (caller: Caller | undefined) => UpstreamError | undefined;
  /** True if the upstream has shown that it knows the key of this caller, or the gateway holds the key. */
  readonly isAccepted: (caller: Caller) => boolean;
  /** The budget of calls; undefined if calls are not limited. */
  readonly budget: CallBudget | undefined;
  readonly health: () => UpstreamHealth;
  /** The faults of the keys that the gateway holds. */
  readonly heldKeyFaults: HeldKeyFaults;
  /** The number of REST calls that were sent, by tenant. */
  readonly callsByTenant: ReadonlyMap<string, number>;
  /** Asks the upstream once, without a key. Resolves to a phrase about its answer; never rejects. */
  readonly check: () => Promise<string>;
  /** Sends later calls by this route. Calls in flight end on the old route. */
  readonly reroute: (route: Route) => void;
  readonly close: () => void;
  /** The cache of answers; undefined if nothing is cached. */
  readonly cache: AnswerCache | undefined;
  /** Gives the epoch that an operation of a caller begins under; undefined if the gateway has no epochs. */
  readonly epochOf: ((caller: Caller, reuse: Reuse) => OperationEpoch | Promise<OperationEpoch>) | undefined;
}

/** The age up to which other operations may join a read, in milliseconds. An older read may never be answered. */
const joinWindowMs = 1000;

/** Makes what operations need to call the REST API at `url`. Nothing is sent yet. */
export function createUpstream(options: UpstreamOptions, caching?: CacheOptions): Upstream {
  const upstream = createUpstreamResources(options, { renewsEpochs: caching !== undefined });
  const { transport, now } = upstream;
  const shared: Shared = {
    upstream,
    json: { accept: 'application/json', decode: jsonOf, inFlight: new SingleFlight(joinWindowMs, now) },
    csv: { accept: 'text/csv', decode: csvOf, inFlight: new SingleFlight(joinWindowMs, now) },
  };
  const held = new HeldKeys(options.log);
  const isAccepted = (caller: Caller): boolean => upstream.keys.isProven(caller);
  const cache = caching && new AnswerCache(caching, isAccepted);
  const clientFor = (caller: Caller | undefined, operation: CallingOperation): RestClient => {
    if (caller === undefined) return anonymousClient;
    const { epoch } = operation;
    const client =
      cache === undefined || epoch === undefined
        ? new CallerClient(shared, caller, operation)
        : new CachedClient({ cache, shared, caller, operation: { ...operation, epoch } });
    return caller.tenant === undefined ? client : new TenantClient(client, caller.tenant, held);
  };
  const refusalOf = (caller: Caller | undefined): UpstreamError | undefined => {
    if (caller === undefined) return new UpstreamError('UNAUTHENTICATED');
    const error = upstream.keys.errorOf(caller.sharingKey);
    return error === undefined || caller.tenant === undefined ? error : keyUnavailable(error);
  };
  return {
    clientFor,
    refusalOf,
    heldKeyFaults: held.faults,
    callsByTenant: upstream.counts.byTenant,
    isAccepted,
    budget: upstream.budget,
    health: () => healthOf(upstream, shared.json.inFlight.joined + shared.csv.inFlight.joined),
    check: () => checkUpstream(upstream),
    reroute: (route) => transport.reroute(route),
    close: () => {
      upstream.budget?.close();
      transport.close();
    },
    cache,
    // An operation whose key is refused gets an epoch of its own, in which nothing is shared or remembered.
    epochOf:
      cache &&
      ((caller, reuse) =>
        refusalOf(caller) === undefined ? cache.open(caller, reuse) : new OperationEpoch(undefined, 'none')),
  };
}

/** The client of a caller without a well-formed key. It sends nothing. */
const anonymousClient: RestClient = {
  read: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
  write: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
};
