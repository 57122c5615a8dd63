import type { Epochs } from '../epochs.ts';
import type { Tenants } from '../tenants.ts';

/** The keys whose answers are forgotten: a tenant's key, the key with a SHA-256 in hexadecimal digits, or all keys. */
export type PurgeTarget = { readonly tenant: string } | { readonly keySha256: string } | { readonly all: true };

/** The number of keys whose answers were forgotten, or the reason why the gateway cannot promise a purge. */
export type Purged = number | 'no cache' | 'unknown tenant' | 'out of reach';

/**
 * Purges cached answers. Once it has resolved to a number, operations that begin later get no older answers from any
 * gateway. Never rejects.
 */
export type Purge = (target: PurgeTarget) => Promise<Purged>;

/** Makes the purge of a cache; `epochs` is undefined if nothing is cached. */
export function createPurge(epochs: Epochs | undefined, tenants: () => Tenants): Purge {
  return async (target) => {
    if (epochs === undefined) return 'no cache';
    const sharingKey = sharingKeyOf(target, tenants());
    if (sharingKey === 'unknown tenant') return sharingKey;
    return (await epochs.purge(sharingKey)) ?? 'out of reach';
  };
}

/** The sharing key of a target; undefined for all keys. */
function sharingKeyOf(target: PurgeTarget, tenants: Tenants): string | undefined {
  if ('all' in target) return undefined;
  if ('tenant' in target) return tenants.get(target.tenant)?.keyHash ?? 'unknown tenant';
  return Buffer.from(target.keySha256, 'hex').toString('base64url');
}
