import type { Epochs } from '../read-your-writes.ts';
import type { Tenants } from '../tenants.ts';

/** The keys whose answers are forgotten: a tenant's key, the key with a SHA-256 in hexadecimal digits, or all keys. */
export type PurgeTarget = { readonly tenant: string } | { readonly keySha256: string } | { readonly all: true };

/**
 * Purges the cached answers of keys. Afterwards, no gateway gives these answers to operations that begin later.
 * Resolves to the number of keys, or to the reason why this cannot be promised. Never rejects.
 */
export type Purge = (target: PurgeTarget) => Promise<number | 'no cache' | 'unknown tenant' | 'out of reach'>;

/** Makes the purge of a cache; `epochs` is undefined if nothing is cached. */
export function createPurge(epochs: Epochs | undefined, tenants: () => Tenants): Purge {
  return async (target) => {
    if (epochs === undefined) return 'no cache';
    let sharingKey: string | undefined;
    if ('tenant' in target) {
      sharingKey = tenants().get(target.tenant)?.keyHash;
      if (sharingKey === undefined) return 'unknown tenant';
    } else if ('keySha256' in target) sharingKey = Buffer.from(target.keySha256, 'hex').toString('base64url');
    return (await epochs.purge(sharingKey)) ?? 'out of reach';
  };
}
