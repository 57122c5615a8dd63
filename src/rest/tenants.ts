import type { Reach } from './reach.ts';

/**
 * A tenant: one entry of `UPSTREAM_KEYS`, whose users share a key that the gateway holds. It never changes: a reload makes a
 * new one.
 */
export interface Tenant {
  readonly name: string;
  /** The personal API key that its calls are made with. */
  readonly key: string;
  /** SHA-256 of that key, as base64url: REST calls are shared and counted by it. */
  readonly keyHash: string;
  /** SHA-256 of the whole entry: whole operations are shared by it. */
  readonly entryHash: string;
  /** The objects that it may reach; undefined for all that the key sees. */
  readonly reach: Reach | undefined;
  /** The names of the mutations that it may run. */
  readonly mutations: ReadonlySet<string>;
}

/** All tenants by their names. A map, so that no name finds what every object has. */
export type Tenants = ReadonlyMap<string, Tenant>;
