import type { Rights } from './reach.ts';
import { runningOperation, type Tenant } from './tenants.ts';

/**
 * The caller of an operation: the personal API key, and the names that stand for it when calls are shared or counted.
 */
export interface Caller {
  readonly key: string;
  /**
   * SHA-256 of that key, as base64url. REST calls with the same sharing key may be shared. The upstream's limits,
   * failures and refusals are counted by it.
   */
  readonly sharingKey: string;
  /** Names the queue in which calls wait. Each tenant has a queue, and so has each key that a caller has sent. */
  readonly queueKey: string;
  /** The tenant whose key the gateway holds; undefined if the caller has sent the key. */
  readonly tenant?: Tenant;
  /** SHA-256 of the tenant's user; undefined without a tenant. */
  readonly subject?: string;
  /** The subject whose share of the limits the caller uses up; by default `subject`. */
  readonly countedAs?: string;
}

/** The subject that stands for all agents of a key. Users have hashes as subjects, and no hash has this form. */
export const agents = 'agents';

/**
 * The name of a caller when whole operations are shared: callers with the same name share them. Without a tenant, it is
 * the hash of the caller's key. Tenants with the same upstream key may reach different objects. For a tenant, the name
 * is therefore the hash of its entry, or of the caller's part of the entry.
 */
export function callerNameOf({ tenant, sharingKey }: Caller): string {
  return tenant?.entryHash ?? sharingKey;
}

/**
 * The caller with only those of its roles that allow an operation. Undefined if the caller has roles, and none of them
 * allows the operation. `listedName` is the name of the operation if its document is listed.
 */
export function runningCaller(caller: Caller, listedName: string | undefined): Caller | undefined {
  if (caller.tenant?.roles === undefined) return caller;
  const tenant = runningOperation(caller.tenant, listedName);
  return tenant && { ...caller, tenant };
}

/** The rights of a caller; undefined if it has all rights of its key. */
export function rightsOf(caller: Caller | undefined): Rights | undefined {
  return caller?.tenant;
}
