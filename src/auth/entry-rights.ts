import { Kind, parse } from 'graphql';
import { ConfigError } from '../config-error.ts';
import { isUpstreamId } from '../graphql/ids.ts';
import type { Reach, Rights } from '../rest/reach.ts';
import type { Role, Tenant, Tenants } from '../rest/tenants.ts';
import { isList, isObject, type JsonObject } from '../rest/values.ts';
import { type FilePlace, kindOf, memberPath } from './file-place.ts';

/** The members of an entry that say which rights it gives. */
export const rightsMembers: readonly string[] = ['projects', 'organizations', 'mutations', 'roles'];

/** The rights of a tenant's entry. `mutationNames` are the names of all mutations. */
export function rightsOf(
  entry: JsonObject,
  where: FilePlace,
  mutationNames: readonly string[],
): Pick<Tenant, 'reach' | 'mutations' | 'roles'> {
  const reach = reachOf(entry, where, undefined);
  const names = mutationsOf(entry, where, { names: mutationNames, reach, label: 'a mutation' });
  const mutations = new Map(names.map((name) => [name, reach]));
  return { reach, mutations, roles: rolesOf(entry['roles'], { reach, mutations }, where.at('.roles')) };
}

/** The roles of an entry. No role may exceed the rights `entry`. */
function rolesOf(value: unknown, entry: Rights, where: FilePlace): Tenant['roles'] {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw where.error(`an object with a member for each role, but got ${kindOf(value)}`);
  const roles = Object.entries(value).map(([name, role]): [string, Role] => {
    const place = where.at(memberPath(name, '.'));
    if (!/^\P{Cc}{1,100}$/u.test(name)) throw place.error('a name of 1 to 100 characters without control characters');
    if (!isObject(role)) throw place.error(`an object that says what the role may do, but got ${kindOf(role)}`);
    return [name, roleOf(role, entry, place)];
  });
  if (roles.length === 0) throw where.error('at least one role, but there is none');
  return new Map(roles);
}

const roleMembers = ['mutations', 'projects', 'organizations', 'documents'];

function roleOf(role: JsonObject, entry: Rights, where: FilePlace): Role {
  where.refuseUnknown(role, roleMembers);
  const reach = reachOf(role, where, entry.reach);
  const names = [...entry.mutations.keys()];
  const mutations = new Set(mutationsOf(role, where, { names, reach, label: 'a mutation that the entry allows' }));
  return { reach, mutations, documents: documentsOf(role['documents'], where.at('.documents')) };
}

/**
 * The reach of an entry or a role. `within` is the most that it may reach. Without `projects` and `organizations` its
 * reach is `within` itself. If it has only one of the two lists, the other one counts as empty.
 */
function reachOf(
  { projects, organizations }: JsonObject,
  where: FilePlace,
  within: Reach | undefined,
): Reach | undefined {
  if (projects === undefined && organizations === undefined) return within;
  return {
    projects: new Set(idsOf(projects ?? [], 'Project', where.at('.projects'), within?.projects)),
    organizations: new Set(
      idsOf(organizations ?? [], 'Organization', where.at('.organizations'), within?.organizations),
    ),
  };
}

const idForms = {
  Project: 'the id of a project (an integer as text)',
  Organization: 'the id of an organization (a UUID)',
};

function idsOf(
  value: unknown,
  type: 'Project' | 'Organization',
  place: FilePlace,
  within: ReadonlySet<string> | undefined,
): readonly string[] {
  if (!isList(value)) throw place.unexpected('a list of ids', value);
  return value.map((item, index) => {
    const id = typeof item === 'string' && type === 'Organization' ? item.toLowerCase() : item;
    const at = place.at(`[${index}]`);
    if (typeof id !== 'string' || !isUpstreamId(type, id)) throw at.unexpected(idForms[type], item);
    if (within?.has(id) === false) throw at.unexpected(`${idForms[type]} that the entry reaches`, item);
    return id;
  });
}

/** No tenant or role with limited reach may use this mutation, because it could not reach the new project. */
const mutationOutOfReach = 'createProject';

interface Allowable {
  readonly names: readonly string[];
  readonly reach: Reach | undefined;
  /** The phrase that stands for one of `names` in messages, such as `a mutation`. */
  readonly label: string;
}

function mutationsOf(
  { mutations: value = false }: JsonObject,
  where: FilePlace,
  { names, reach, label }: Allowable,
): readonly string[] {
  const place = where.at('.mutations');
  if (value === false) return [];
  const allowed = names.filter((name) => reach === undefined || name !== mutationOutOfReach);
  if (value === true) return allowed;
  if (!isList(value)) throw place.unexpected('true, false or a list of names of mutations', value);
  return value.map((name, index) => {
    if (typeof name === 'string' && allowed.includes(name)) return name;
    const expected =
      name === mutationOutOfReach && names.includes(name)
        ? `a mutation other than ${mutationOutOfReach}, because projects or organizations limit its reach`
        : `the name of ${label} (${allowed.join(', ') || 'none'})`;
    throw place.at(`[${index}]`).unexpected(expected, name);
  });
}

function documentsOf(value: unknown, place: FilePlace): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined;
  if (!isList(value)) throw place.unexpected('a list of names of listed operations', value);
  const names = value.map((name, index) => {
    if (typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name)) return name;
    throw place.at(`[${index}]`).unexpected('the name of a listed operation', name);
  });
  return new Set(names);
}

/**
 * Throws a ConfigError if a role names an operation that no listed document has, valid or not. The documents are parsed
 * only if a role names an operation.
 */
export function checkRoleDocuments(tenants: Tenants, listed: () => Iterable<{ readonly text: string }>): void {
  let known: ReadonlySet<string> | undefined;
  for (const { name: tenant, roles = [] } of tenants.values())
    for (const [role, { documents = [] }] of roles)
      for (const name of documents) {
        known ??= new Set([...listed()].flatMap(namesIn));
        if (known.has(name)) continue;
        const place = `the role ${JSON.stringify(role)} of ${JSON.stringify(tenant)}`;
        throw new ConfigError(
          `UPSTREAM_KEYS: expected ${name} in ${place} to be an operation of a listed document, but there is none`,
        );
      }
}

/** The names of the operations in a text; none if it is not GraphQL. */
function namesIn({ text }: { readonly text: string }): readonly string[] {
  try {
    const { definitions } = parse(text, { noLocation: true });
    return definitions.flatMap((one) => (one.kind === Kind.OPERATION_DEFINITION ? (one.name?.value ?? []) : []));
  } catch {
    return [];
  }
}
