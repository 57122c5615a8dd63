import { hash } from 'node:crypto';
import { RecentMap } from '../recent-map.ts';
import type { Reach } from './reach.ts';
import type { Role, Tenant } from './tenants.ts';

/** Parts of tenants, by the tenant and the names of roles: a tenant with n roles may have 2ⁿ parts. */
const parts = new RecentMap<string, Tenant>({ entries: 1000 });

/**
 * The part of a tenant that users with these roles have; undefined if it has none of them. A tenant without roles is whole
 * for all of its users.
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

/** True if the callers of a tenant may reach all that their key sees. */
export function reachesAll({ reach, roles }: Tenant): boolean {
  return reach === undefined && roles === undefined;
}

function allows({ documents }: Role, listedName: string | undefined): boolean {
  return documents === undefined || (listedName !== undefined && documents.has(listedName));
}

function partOf(tenant: Tenant, roles: ReadonlyMap<string, Role>): Tenant | undefined {
  if (roles.size === 0) return undefined;
  const name = JSON.stringify([tenant.entryHash, ...roles.keys()]);
  const part = parts.get(name) ?? toPart(tenant, roles);
  parts.set(name, part);
  return part;
}

/** The part of a tenant with these roles. Only the roles decide, so a part of a part is also a part of the whole. */
function toPart(tenant: Tenant, roles: ReadonlyMap<string, Role>): Tenant {
  const all = [...roles.values()];
  const mutationNames = new Set(all.flatMap(({ mutations }) => [...mutations]));
  const mutations = [...mutationNames].map((name): [string, Reach | undefined] => [
    name,
    unionOf(all.filter((role) => role.mutations.has(name))),
  ]);
  const contents = [tenant.name, tenant.keyHash, ...[...roles].map(roleContents)];
  return {
    ...tenant,
    entryHash: hash('sha256', JSON.stringify(contents), 'base64url'),
    reach: unionOf(all),
    mutations: new Map(mutations),
    roles,
  };
}

function unionOf(roles: readonly Role[]): Reach | undefined {
  const reaches = roles.flatMap(({ reach }) => reach ?? []);
  if (reaches.length < roles.length) return undefined;
  return {
    projects: new Set(reaches.flatMap(({ projects }) => [...projects])),
    organizations: new Set(reaches.flatMap(({ organizations }) => [...organizations])),
  };
}

/** The contents of a role as JSON. */
export function roleContents([name, { reach, mutations, documents }]: readonly [string, Role]): unknown {
  const within = reach && [[...reach.projects], [...reach.organizations]];
  return [name, within ?? null, [...mutations], documents === undefined ? null : [...documents]];
}
