import { memoize } from '../memoize.ts';
import type { Rights } from './reach.ts';
import { runningOperation, type Tenant } from './tenants.ts';

/** The caller of an operation: an API key, and the names by which calls are shared, queued and counted. */
export interface Caller {
  readonly key: string;
  /**
   * SHA-256 of `key`, as base64url. Callers with the same sharing key may share REST calls. Limits, failures and
   * refusals of the upstream are also kept by sharing key.
   */
  readonly sharingKey: string;
  /**
   * The name of the queue in which the caller's calls wait. Each tenant has a queue, and so has each key that a caller
   * has sent.
   */
  readonly queueKey: string;
  /** The tenant whose key the gateway holds; undefined if the caller has sent the key. */
  readonly tenant?: Tenant;
  /** SHA-256 of the user that the caller's token names; undefined without a tenant. */
  readonly subject?: string;
  /** The subject whose share of the limits the caller uses up; by default `subject`. */
  readonly budgetSubject?: string;
}

/** The subject that stands for all agents of a key. Users have hashes as subjects, and no hash has this form. */
export const agents = 'agents';

/**
 * The name of a caller for sharing whole operations: callers with the same name share them. Without a tenant, the name
 * is the hash of the key. With a tenant, it is the hash of what the tenant allows the caller, because tenants with the
 * same key may reach different objects.
 */
export function callerNameOf({ tenant, sharingKey }: Caller): string {
  return tenant?.entryHash ?? sharingKey;
}

/**
 * The caller with only those of its roles that allow an operation; undefined if none of them does. A caller without
 * roles stays as it is. `listedName` is the name of the operation if its document is listed.
 */
export function runningCaller(caller: Caller, listedName: string | undefined): Caller | undefined {
  if (caller.tenant?.roles === undefined) return caller;
  const tenant = runningOperation(caller.tenant, listedName);
  return tenant && (tenant === caller.tenant ? caller : withTenant(caller)(tenant));
}

/** Memoized, because the headers and the encryption key of a caller are kept as long as the object. */
const withTenant = memoize((caller: Caller) => memoize((tenant: Tenant): Caller => ({ ...caller, tenant })));

/** The rights of a caller; undefined if it has all rights of its key. */
export function rightsOf(caller: Caller | undefined): Rights | undefined {
  return caller?.tenant;
}
