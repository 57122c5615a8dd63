import { hash } from 'node:crypto';
import { RecentMap } from '../recent-map.ts';
import type { Reach, Rights } from './reach.ts';

/**
 * One entry of `UPSTREAM_KEYS`, whose users share a key that the gateway holds. If the entry has roles, a `Tenant` may
 * also stand for users with some of them. A tenant never changes: a reload makes a new one.
 */
export interface Tenant extends Rights {
  readonly name: string;
  /** A personal API key. */
  readonly key: string;
  /** SHA-256 of `key`, as base64url. Callers with the same hash share REST calls, and are counted together. */
  readonly keyHash: string;
  /** SHA-256 of the entry and of the user's roles. Callers with the same hash share whole operations. */
  readonly entryHash: string;
  /** By name, in the order of the entry; undefined if all users may do the same. */
  readonly roles: ReadonlyMap<string, Role> | undefined;
}

/** A role of a tenant's users. */
export interface Role {
  /** The reach of the role; undefined if it is all that the key sees. */
  readonly reach: Reach | undefined;
  /** The names of allowed mutations. */
  readonly mutations: ReadonlySet<string>;
  /** The names of allowed listed operations; undefined if any operation is allowed. */
  readonly documents: ReadonlySet<string> | undefined;
}

/** All tenants by name. An object in place of the map would inherit names such as `constructor`. */
export type Tenants = ReadonlyMap<string, Tenant>;

/** The latest parts of tenants, by the hash of the tenant and the names of the roles. n roles have up to 2ⁿ parts. */
const knownParts = new RecentMap<string, Tenant>({ entries: 1000 });

/**
 * The part of a tenant for users with these roles; undefined if the tenant has none of these roles. A tenant without
 * roles of its own is returned whole.
 */
export function withRoles(tenant: Tenant, names: Iterable<string>): Tenant | undefined {
  if (tenant.roles === undefined) return tenant;
  const wanted = new Set(names);
  return partOf(tenant, new Map([...tenant.roles].filter(([name]) => wanted.has(name))));
}

/**
 * The part of a tenant that may run an operation; undefined if no role allows it. `listedName` is undefined if the
 * document is not listed.
 */
export function tenantAllowing(tenant: Tenant, listedName: string | undefined): Tenant | undefined {
  const { roles } = tenant;
  if (roles === undefined) return tenant;
  const allowing = new Map([...roles].filter(([, role]) => allows(role, listedName)));
  return allowing.size === roles.size ? tenant : partOf(tenant, allowing);
}

/**
 * True if the tenant is missing or different in `tenants`, which were read later. Of a tenant with roles, only the part
 * with the same roles is compared.
 */
export function isOutdated(tenant: Tenant, tenants: Tenants): boolean {
  const entry = tenants.get(tenant.name);
  return (entry && withRoles(entry, tenant.roles?.keys() ?? []))?.entryHash !== tenant.entryHash;
}

function allows({ documents }: Role, listedName: string | undefined): boolean {
  return documents === undefined || (listedName !== undefined && documents.has(listedName));
}

function partOf(tenant: Tenant, roles: ReadonlyMap<string, Role>): Tenant | undefined {
  if (roles.size === 0) return undefined;
  const name = JSON.stringify([tenant.entryHash, ...roles.keys()]);
  const part = knownParts.get(name) ?? toPart(tenant, roles);
  knownParts.set(name, part);
  return part;
}

/** `tenant` may itself be a part, because the result depends only on `roles`. */
function toPart(tenant: Tenant, roles: ReadonlyMap<string, Role>): Tenant {
  const all = [...roles.values()];
  const mutations = new Map<string, Reach | undefined>();
  for (const name of all.flatMap((role) => [...role.mutations]))
    mutations.set(name, unionOf(all.filter((role) => role.mutations.has(name))));
  return {
    ...tenant,
    entryHash: contentHash(tenant.name, tenant.keyHash, roles),
    reach: unionOf(all),
    mutations,
    roles,
  };
}

function unionOf(roles: readonly Role[]): Reach | undefined {
  const all = roles.flatMap(({ reach }) => reach ?? []);
  if (all.length < roles.length) return undefined;
  return {
    projects: new Set(all.flatMap(({ projects }) => [...projects])),
    organizations: new Set(all.flatMap(({ organizations }) => [...organizations])),
  };
}

/** SHA-256 of values and of all that they hold, as base64url. */
export function contentHash(...values: readonly unknown[]): string {
  const asJson = (_name: string, value: unknown): unknown =>
    value instanceof Set || value instanceof Map ? [...value] : value;
  return hash('sha256', JSON.stringify(values, asJson), 'base64url');
}
