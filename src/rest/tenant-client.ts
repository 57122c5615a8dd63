import { type Log, LogThrottle } from '../log.ts';
import type { RestClient } from './client.ts';
import { isUnauthenticated, UpstreamError } from './errors.ts';
import { reachesTarget } from './reach.ts';
import type { ReadFormat } from './response-content.ts';
import type { RestOperation } from './rest-operations.ts';
import type { Tenant } from './tenants.ts';

/** The error of a call beyond the reach of its tenant, which only a fault of the gateway causes. */
export class ReachError extends Error {
  override readonly name = 'ReachError';
}

/**
 * The error of a rejected key of a tenant. It is not `UNAUTHENTICATED`, because only the operator can change the key.
 */
export function keyUnavailable(cause: unknown): UpstreamError {
  return new UpstreamError('UPSTREAM_UNAVAILABLE', undefined, cause);
}

/** Logs the faults of the keys that the gateway holds for tenants, and counts them since the start. */
export class HeldKeys {
  /** The number of REST calls whose key the upstream has rejected. */
  rejectedCalls = 0;
  /** The number of REST calls that would have left the reach of their tenant. */
  stoppedCalls = 0;
  readonly #log: Log;
  readonly #rejectedKeys = new LogThrottle();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Notes that the upstream has rejected the key of a tenant. Returns the error for its clients. */
  noteRejected({ name, keyHash }: Tenant, cause: unknown): UpstreamError {
    this.rejectedCalls += 1;
    if (this.#rejectedKeys.mayLog(keyHash)) {
      this.#log('error', 'the upstream rejects the key of a tenant', { tenant: name });
    }
    return keyUnavailable(cause);
  }

  /** Notes a call that would have left the reach of its tenant. Returns its error. */
  noteStopped({ name }: Tenant, { method, path }: RestOperation): ReachError {
    this.stoppedCalls += 1;
    const operation = `${method} ${path}`;
    this.#log('error', 'a REST call was stopped, because it would have left the reach of its tenant', {
      tenant: name,
      operation,
    });
    return new ReachError('a REST call would have left the reach of its tenant');
  }
}

/** Makes REST calls with the key of a tenant. Checks once more that each is within the reach of the tenant. */
export class TenantClient implements RestClient {
  readonly #client: RestClient;
  readonly #tenant: Tenant;
  readonly #heldKeys: HeldKeys;

  constructor(client: RestClient, tenant: Tenant, heldKeys: HeldKeys) {
    this.#client = client;
    this.#tenant = tenant;
    this.#heldKeys = heldKeys;
  }

  read(endpoint: RestOperation, target: string, format?: ReadFormat): Promise<unknown> {
    const { reach } = this.#tenant;
    if (!reachesTarget(reach, endpoint.method, target)) return this.#stop(endpoint);
    return this.#client.read(endpoint, target, format).catch(this.#fail);
  }

  /** The target must be within the reach of one of the tenant's mutations. */
  write(endpoint: RestOperation, target: string, body?: unknown): Promise<unknown> {
    const reaches = [...this.#tenant.mutations.values()];
    if (!reaches.some((reach) => reachesTarget(reach, endpoint.method, target))) return this.#stop(endpoint);
    return this.#client.write(endpoint, target, body).catch(this.#fail);
  }

  #stop(endpoint: RestOperation): Promise<never> {
    return Promise.reject(this.#heldKeys.noteStopped(this.#tenant, endpoint));
  }

  readonly #fail = (error: unknown): never => {
    throw isUnauthenticated(error) ? this.#heldKeys.noteRejected(this.#tenant, error) : error;
  };
}
