import { hash } from 'node:crypto';
import { RecentMap } from '../recent-map.ts';
import { type NodeType, ownerTypeOf } from './nouns.ts';

/**
 * A tenant: one entry of `UPSTREAM_KEYS`, whose users share a key that the gateway holds. It may also be the part of
 * the entry that users with some of its roles have. It never changes: a reload makes a new one.
 */
export interface Tenant {
  readonly name: string;
  /** The personal API key that its calls are made with. */
  readonly key: string;
  /** SHA-256 of `key`, as base64url: REST calls are shared and counted by it. */
  readonly keyHash: string;
  /** SHA-256 of the tenant's entry in `UPSTREAM_KEYS` and of the user's roles. Whole operations are shared by it. */
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

/**
 * The objects that a tenant may reach, as upstream ids. Everything below a project or an organization is reached with it.
 */
export interface Reach {
  /** In the order in which `projects` lists them. */
  readonly projects: ReadonlySet<string>;
  /** In lower case. */
  readonly organizations: ReadonlySet<string>;
}

/** An object as its key names it. `scope` is the id of its owner; empty for projects and organizations. */
export interface Reachable {
  readonly noun: NodeType;
  readonly scope: string;
  readonly id: string;
}

/** True if an object is within reach. Without a reach, every object is. `@current` is never within a reach. */
export function reaches(reach: Reach | undefined, { noun, scope, id }: Reachable): boolean {
  if (reach === undefined) return true;
  const owner = ownerTypeOf(noun);
  const [type, text] = owner === undefined ? [noun, id] : [owner, scope];
  if (type === 'Organization') return reach.organizations.has(text.toLowerCase());
  return type === 'Project' && reach.projects.has(text);
}

/** The project or organization that a path of the API names. */
const owner = /^\/api\/(?<word>projects|organizations)\/(?<id>[^/?]+)/;

/** Paths that name no project or organization: a page of all projects. */
const nameless = /^\/api\/projects\/(?:$|\?)/;

/**
 * True if a REST call stays within reach. `target` is path and query. Unknown paths are outside, so that a new form of
 * path is refused until it is listed here.
 */
export function reachesTarget(reach: Reach | undefined, method: string, target: string): boolean {
  if (reach === undefined) return true;
  const { word, id = '' } = owner.exec(target)?.groups ?? {};
  if (word === undefined) return method === 'GET' && nameless.test(target);
  const noun = word === 'projects' ? 'Project' : 'Organization';
  return reaches(reach, { noun, scope: '', id });
}

/** Parts of tenants, by the tenant and the names of roles: a tenant with n roles may have 2ⁿ parts. */
const knownParts = new RecentMap<string, Tenant>({ entries: 1000 });

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
  const part = knownParts.get(name) ?? toPart(tenant, roles);
  knownParts.set(name, part);
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
