import { memoize } from '../memoize.ts';
import type { Rights } from './reach.ts';
import { type Tenant, tenantAllowing } from './tenants.ts';

/** The caller of an operation. */
export interface Caller {
  readonly key: string;
  /**
   * SHA-256 of `key`, as base64url. Callers with the same sharing key may share REST calls. They also share limits,
   * failures and refusals of the upstream.
   */
  readonly sharingKey: string;
  /** The name of the queue in which its calls wait. Each tenant has one, and so has each key that clients send. */
  readonly queueKey: string;
  /** The tenant for which the gateway holds the key; undefined if the caller has sent the key. */
  readonly tenant?: Tenant;
  /** SHA-256 of the user that the caller's token names; undefined without a tenant. */
  readonly subject?: string;
  /** The subject in whose account its calls are counted; by default `subject`. */
  readonly chargedTo?: string;
}

/** The subject that stands for all agents of a key. Users have hashes as subjects, and no hash has this form. */
export const agents = 'agents';

/** True if the gateway holds the key of a caller, so that the upstream knows it. */
export function isKeyHeld({ tenant }: Caller): boolean {
  return tenant !== undefined;
}

/**
 * Callers with the same name share whole operations. The name of a tenant's caller is the hash of what the tenant
 * allows it, because tenants with the same key may reach different objects.
 */
export function callerNameOf({ tenant, sharingKey }: Caller): string {
  return tenant?.entryHash ?? sharingKey;
}

/**
 * The caller with only those of its roles that allow an operation; undefined if none of them does. A caller without
 * roles stays as it is. `listedName` is undefined if the document is not listed.
 */
export function callerAllowing(caller: Caller, listedName: string | undefined): Caller | undefined {
  if (caller.tenant?.roles === undefined) return caller;
  const tenant = tenantAllowing(caller.tenant, listedName);
  return tenant && (tenant === caller.tenant ? caller : withTenant(caller)(tenant));
}

/** Memoized, because headers and encryption keys are memoized by the object of the caller. */
const withTenant = memoize((caller: Caller) => memoize((tenant: Tenant): Caller => ({ ...caller, tenant })));

/** The rights of a caller; undefined if it has all rights of its key. */
export function rightsOf(caller: Caller | undefined): Rights | undefined {
  return caller?.tenant;
}
