import type { MaybePromise } from '../maybe-promise.ts';
import { AnswerCache, type CacheOptions } from './cache/answer-cache.ts';
import { CachedClient } from './cache/cached-client.ts';
import type { Caller } from './caller.ts';
import { CallerClient, type RestClient } from './client.ts';
import { UpstreamError } from './errors.ts';
import { OperationEpoch, type Reuse } from './read-your-writes.ts';
import {
  createUpstreamResources,
  type UpstreamOptions,
  type UpstreamResources,
} from './resilience/upstream-resources.ts';
import type { AnyRestRun } from './rest-run.ts';
import { HeldKeys, keyUnavailable, TenantClient } from './tenant-client.ts';

/** The REST API, shared by all operations. */
export interface Upstream {
  readonly resources: UpstreamResources;
  readonly heldKeys: HeldKeys;
  readonly clientFor: (run: AnyRestRun) => RestClient;
  /** The error of a caller whose key is known to be unusable; undefined for any other caller. */
  readonly keyFaultOf: (caller: Caller | undefined) => UpstreamError | undefined;
  /** Undefined if nothing is cached. */
  readonly cache: AnswerCache | undefined;
  /** The epoch in which an operation begins. */
  readonly epochOf: (caller: Caller | undefined, reuse: Reuse) => MaybePromise<OperationEpoch>;
  readonly close: () => void;
}

/** Makes the upstream. Nothing is sent yet. */
export function createUpstream(options: UpstreamOptions, caching?: CacheOptions): Upstream {
  const resources = createUpstreamResources(options, caching && 2 * caching.refreshMs);
  const { keys, epochs, transport } = resources;
  const heldKeys = new HeldKeys(options.log);
  const cache = caching && new AnswerCache(caching, resources);
  const clientFor = (run: AnyRestRun): RestClient => {
    if (run.caller === undefined) return anonymousClient;
    const { tenant } = run.caller;
    const client = cache === undefined ? new CallerClient(resources, run) : new CachedClient({ cache, resources, run });
    return tenant === undefined ? client : new TenantClient(client, tenant, heldKeys);
  };
  const keyFaultOf = (caller: Caller | undefined): UpstreamError | undefined => {
    if (caller === undefined) return new UpstreamError('UNAUTHENTICATED');
    const error = keys.errorOf(caller.sharingKey);
    return error === undefined || caller.tenant === undefined ? error : keyUnavailable(error);
  };
  const epochOf = (caller: Caller | undefined, reuse: Reuse): MaybePromise<OperationEpoch> => {
    // An operation whose key is refused gets an epoch of its own, in which nothing is shared or remembered.
    if (caller === undefined || keyFaultOf(caller) !== undefined) return new OperationEpoch(undefined, 'none');
    const use = cache === undefined ? 'uncounted' : reuse;
    const current = epochs.current(caller.sharingKey, keys.isProven(caller));
    return current instanceof Promise
      ? current.then((epoch) => new OperationEpoch(epoch, use))
      : new OperationEpoch(current, use);
  };
  return {
    resources,
    heldKeys,
    clientFor,
    keyFaultOf,
    cache,
    epochOf,
    close: () => transport.close(),
  };
}

/** The client without a well-formed key, which sends nothing. */
const anonymousClient: RestClient = {
  read: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
  write: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
};
