import { type Log, LogThrottle } from '../log.ts';
import type { RestClient } from './client.ts';
import { isUnauthenticated, UpstreamError } from './errors.ts';
import { reachesTarget } from './reach.ts';
import type { ReadFormat } from './response-content.ts';
import type { RestOperation } from './rest-operations.ts';
import type { Tenant } from './tenants.ts';

/** Counts of faults with the keys that the gateway holds for tenants, since the start. */
interface HeldKeyFaults {
  /** The number of REST calls whose key the upstream did not take. */
  refusedKeys: number;
  /** The number of REST calls that were stopped because they would have left the reach of their tenant. */
  stoppedCalls: number;
}

/**
 * The error of a REST call beyond the reach of its tenant. Only a fault of the gateway causes such a call, never a
 * caller.
 */
export class ReachError extends Error {
  override readonly name = 'ReachError';
}

/**
 * The error that a tenant's clients get if the upstream rejects the tenant's key. It is not `UNAUTHENTICATED`, because
 * only the operator can change the key.
 */
export function keyUnavailable(cause: unknown): UpstreamError {
  return new UpstreamError('UPSTREAM_UNAVAILABLE', undefined, cause);
}

/** Counts and logs faults with the keys of all tenants. */
export class HeldKeys {
  readonly faults: HeldKeyFaults = { refusedKeys: 0, stoppedCalls: 0 };
  readonly #log: Log;
  readonly #refusedKeys = new LogThrottle();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Counts and logs a tenant's key that the upstream has rejected. Returns the error for its clients. */
  refused({ name, keyHash }: Tenant, cause: unknown): UpstreamError {
    this.faults.refusedKeys += 1;
    if (this.#refusedKeys.mayLog(keyHash)) {
      this.#log('error', 'the upstream does not take the key of a tenant', { tenant: name });
    }
    return keyUnavailable(cause);
  }

  /** Counts and logs a call that would have left the reach of its tenant. Returns its error. */
  stopped({ name }: Tenant, { method, path }: RestOperation): ReachError {
    this.faults.stoppedCalls += 1;
    const operation = `${method} ${path}`;
    this.#log('error', 'a REST call that would have left the reach of its tenant was stopped', {
      tenant: name,
      operation,
    });
    return new ReachError('a REST call would have left the reach of its tenant');
  }
}

/**
 * Makes REST calls with a key that the gateway holds for a tenant. Before each call, checks once more that it is within
 * the reach of the tenant.
 */
export class TenantClient implements RestClient {
  readonly #client: RestClient;
  readonly #tenant: Tenant;
  readonly #held: HeldKeys;

  constructor(client: RestClient, tenant: Tenant, held: HeldKeys) {
    this.#client = client;
    this.#tenant = tenant;
    this.#held = held;
  }

  /** A read may go where the tenant reaches. */
  read(operation: RestOperation, target: string, format?: ReadFormat): Promise<unknown> {
    const { reach } = this.#tenant;
    if (!reachesTarget(reach, operation.method, target)) return this.#stop(operation);
    return this.#client.read(operation, target, format).catch(this.#fail);
  }

  /**
   * Makes a write, which may use the method GET. Its target must be within the reach of one of the tenant's mutations.
   */
  write(operation: RestOperation, target: string, body?: unknown): Promise<unknown> {
    const reaches = [...this.#tenant.mutations.values()];
    if (!reaches.some((reach) => reachesTarget(reach, operation.method, target))) return this.#stop(operation);
    return this.#client.write(operation, target, body).catch(this.#fail);
  }

  #stop(operation: RestOperation): Promise<never> {
    return Promise.reject(this.#held.stopped(this.#tenant, operation));
  }

  readonly #fail = (error: unknown): never => {
    throw isUnauthenticated(error) ? this.#held.refused(this.#tenant, error) : error;
  };
}
