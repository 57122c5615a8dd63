import type { Reach } from './reach.ts';

/**
 * A tenant: one entry of `UPSTREAM_KEYS`, whose users share a key that the gateway holds. It may also be the part of
 * the entry that users with some of its roles have (see `roles.ts`). It never changes: a reload makes a new one.
 */
export interface Tenant {
  readonly name: string;
  /** The personal API key that its calls are made with. */
  readonly key: string;
  /** SHA-256 of that key, as base64url: REST calls are shared and counted by it. */
  readonly keyHash: string;
  /** SHA-256 of the whole entry, or of the roles that the users have. Whole operations are shared by it. */
  readonly entryHash: string;
  /** The objects that it may reach; undefined for all that the key sees. */
  readonly reach: Reach | undefined;
  /** The mutations that it may run, by name, with the reach of each: `reach`, or less with roles. */
  readonly mutations: ReadonlyMap<string, Reach | undefined>;
  /** Its roles by their names, in the order of the entry; undefined if all of its users may do the same. */
  readonly roles: ReadonlyMap<string, Role> | undefined;
}

/** A role of a tenant's users. */
export interface Role {
  /** The objects that it may reach; undefined for all that the key sees. */
  readonly reach: Reach | undefined;
  /** The names of the mutations that it may run. */
  readonly mutations: ReadonlySet<string>;
  /** The names of the listed operations that it may run; undefined for any operation. */
  readonly documents: ReadonlySet<string> | undefined;
}

/** All tenants by their names. A map has no inherited names, as an object would. */
export type Tenants = ReadonlyMap<string, Tenant>;
