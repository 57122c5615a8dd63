import type { Entries, Entry, RoleEntry } from '../support/tenants.ts';
import type { Random } from './random.ts';
import { realOrganizationIds } from './world.ts';

const [organization = '', foreign = ''] = realOrganizationIds;

/** Listed operations by their names, which roles may name. */
export const listed: Readonly<Record<string, string>> = {
  Overview: 'query Overview { projects(first: 3) { totalCount nodes { id name } } }',
  First: 'query First { project(id: 1) { name dashboards(first: 3) { nodes { id name } } } }',
  Both: `query Both { project(id: 2) { name } organization(id: "${organization}") { name plugins { nodes { id } } } }`,
  Rename: 'mutation Rename { updateProject(input: { id: 2, name: "x" }) { project { name } } }',
};

/** The rights of users with roles, over one key: a file of tenants for each reload. */
export const withRoles: readonly Entries[] = [
  {
    acme: {
      key: 'one',
      projects: ['1', '2', '3'],
      organizations: [organization, foreign],
      mutations: true,
      roles: {
        viewer: {},
        editor: { projects: ['1'], mutations: true },
        writer: { projects: ['2'], organizations: [organization], mutations: ['updateProject', 'updateDashboard'] },
        agent: { projects: ['3'], documents: ['Overview', 'First', 'Rename'], mutations: ['updateProject'] },
      },
    },
    globex: {
      key: 'one',
      projects: ['3', '2'],
      organizations: [foreign],
      roles: { viewer: {}, agent: { projects: ['2'] } },
    },
  },
  {
    acme: {
      key: 'one',
      mutations: true,
      roles: {
        viewer: { projects: ['2'] },
        editor: { mutations: true },
        writer: { projects: ['3', '1'], organizations: [foreign], mutations: true },
        auditor: { organizations: [organization] },
        agent: { documents: ['Both'] },
      },
    },
    globex: { key: 'one' },
  },
  {
    acme: { key: 'one', projects: ['1', '3'], roles: { viewer: {}, reader: {}, writer: { projects: [] } } },
    globex: { key: 'one', projects: ['2'], mutations: true, roles: { editor: { mutations: ['updateDashboard'] } } },
  },
  {
    acme: { key: 'one', projects: ['2'], organizations: [organization], mutations: ['updateProject'] },
    globex: {
      key: 'one',
      mutations: true,
      roles: { agent: { documents: ['Rename'], projects: ['2'], mutations: true } },
    },
  },
];

const words = ['viewer', 'reader', 'editor', 'writer', 'agent', 'auditor', 'Viewer', 'constructor'];

/** The roles of a token: some of those that entries have, and others. */
export function rolesOf(random: Random): readonly string[] {
  return words.filter(() => random.once(3));
}

/** The roles of the user who asks, and the operation. */
export interface Asked {
  readonly roles: readonly string[];
  readonly query: string;
}

/** Messages of the refusals before an operation runs. */
export const refusals = {
  noRole: 'The token has no role that may use this gateway.',
  noneAllows: 'No role of the token may run this operation.',
} as const;

/** The rights that a user has in one operation, as an entry without roles; the message if the operation is refused. */
export function rightsOf(entry: Entry, { roles, query }: Asked): Rights | string {
  if (entry.roles === undefined) return { read: entry, write: entry };
  const own = Object.entries(entry.roles).filter(([name]) => roles.includes(name));
  if (own.length === 0) return refusals.noRole;
  const listedName = Object.keys(listed).find((name) => listed[name] === query);
  const allowing = own.flatMap(([, role]) => (allows(role, listedName) ? [role] : []));
  if (allowing.length === 0) return refusals.noneAllows;
  const mutation = /^mutation[^{]*\{ (?<name>\w+)/.exec(query)?.groups?.['name'];
  const naming = allowing.filter((role) => mutation !== undefined && names(entry, role, mutation));
  const read = limitedTo(entry, allowing);
  if (mutation === undefined || naming.length === 0) return { read, write: read };
  return { read, write: { ...limitedTo(entry, naming), mutations: [mutation] } };
}

/** The reach of an operation's reads; the mutations that it may run, and their reach. */
export interface Rights {
  readonly read: Entry;
  readonly write: Entry;
}

function allows({ documents }: RoleEntry, listedName: string | undefined): boolean {
  return documents === undefined || (listedName !== undefined && documents.includes(listedName));
}

function hasLimitedReach({ projects, organizations }: RoleEntry): boolean {
  return projects !== undefined || organizations !== undefined;
}

function names(entry: Entry, role: RoleEntry, mutation: string): boolean {
  const isCreation = mutation === 'createProject';
  const bounds = [entry, role].map(({ mutations = false }) =>
    typeof mutations === 'boolean' ? mutations : mutations.includes(mutation),
  );
  return bounds.every(Boolean) && !(isCreation && (hasLimitedReach(entry) || hasLimitedReach(role)));
}

/** An entry that reaches what these roles reach together, and runs no mutation. */
function limitedTo({ key, ...entry }: Entry, roles: readonly RoleEntry[]): Entry {
  const reaches = roles.map((role) => (hasLimitedReach(role) ? role : entry));
  if (!reaches.every(hasLimitedReach)) return { key };
  return {
    key,
    projects: [...new Set(reaches.flatMap(({ projects = [] }) => projects))],
    organizations: [...new Set(reaches.flatMap(({ organizations = [] }) => organizations))],
  };
}
