import { hash } from 'node:crypto';
import { RecentMap } from '../recent-map.ts';
import type { Reach, Rights } from './reach.ts';

/**
 * A tenant: one entry of `UPSTREAM_KEYS`. Its users share a key that the gateway holds. If the entry has roles, a
 * `Tenant` may also stand for some of them. It then allows what users with these roles may do. A tenant never changes:
 * a reload makes a new one.
 */
export interface Tenant extends Rights {
  readonly name: string;
  /** The personal API key that its calls are made with. */
  readonly key: string;
  /**
   * SHA-256 of `key`, as base64url. Callers with the same hash share REST calls, and their calls are counted together.
   */
  readonly keyHash: string;
  /**
   * SHA-256 of the tenant's entry in `UPSTREAM_KEYS` and of the user's roles. Callers with the same hash share whole
   * operations.
   */
  readonly entryHash: string;
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

/** All tenants by their names. They are in a map, because an object would inherit names such as `constructor`. */
export type Tenants = ReadonlyMap<string, Tenant>;

/**
 * The parts of tenants that were made, by the hash of the tenant and the names of the roles. A tenant with n roles has
 * up to 2ⁿ parts.
 */
const knownWithRoles = new RecentMap<string, Tenant>({ entries: 1000 });

/**
 * The part of a tenant that is open to users with these roles; undefined if the tenant has none of these. A tenant
 * without roles is open as a whole to all of its users.
 */
export function withRoles(tenant: Tenant, names: Iterable<string>): Tenant | undefined {
  if (tenant.roles === undefined) return tenant;
  const wanted = new Set(names);
  return partOf(tenant, new Map([...tenant.roles].filter(([name]) => wanted.has(name))));
}

/**
 * The part of a tenant that may run an operation; undefined if no role allows it. `listedName` is the name of the
 * operation if its document is listed.
 */
export function runningOperation(tenant: Tenant, listedName: string | undefined): Tenant | undefined {
  const { roles } = tenant;
  if (roles === undefined) return tenant;
  const allowing = new Map([...roles].filter(([, role]) => allows(role, listedName)));
  return allowing.size === roles.size ? tenant : partOf(tenant, allowing);
}

/**
 * True if a tenant is missing from `tenants`, which were read later, or has changed there. A tenant that stands for
 * some of the roles of its entry is compared with the same roles of the new entry.
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
  const part = knownWithRoles.get(name) ?? toPart(tenant, roles);
  knownWithRoles.set(name, part);
  return part;
}

/** The part of a tenant with these roles. `tenant` may itself be a part, because the result depends only on `roles`. */
function toPart(tenant: Tenant, roles: ReadonlyMap<string, Role>): Tenant {
  const all = [...roles.values()];
  const mutationNames = new Set(all.flatMap(({ mutations }) => [...mutations]));
  const mutations = [...mutationNames].map((name): [string, Reach | undefined] => [
    name,
    unionOf(all.filter((role) => role.mutations.has(name))),
  ]);
  return {
    ...tenant,
    entryHash: contentHash(tenant.name, tenant.keyHash, roles),
    reach: unionOf(all),
    mutations: new Map(mutations),
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
