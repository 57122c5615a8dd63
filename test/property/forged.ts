import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { type NodeType, type OwnerType, ownerTypeOf } from '../../src/rest/nouns.ts';
import { type Reach, reaches } from '../../src/rest/reach.ts';
import { idText, isObject, type Row } from '../../src/rest/values.ts';
import type { Random } from './random.ts';
import { answerOf } from './upstream.ts';
import { realOrganizationIds, type World } from './world.ts';

// Global ids are not signed: a client may put any scope before any id.

const projectIds: readonly string[] = ['1', '2', '3'];
const numbers = Array.from({ length: 8 }, (_, index) => index + 1);
const idsOf: Readonly<Record<NodeType, readonly string[]>> = {
  Project: projectIds,
  Organization: realOrganizationIds,
  Dashboard: projectIds.flatMap((project) => numbers.map((number) => `${Number(project) * 100 + number}`)),
  Event: numbers.map((number) => `e-${number}`),
  Plugin: numbers.map(String),
};

/** An operation that names objects by forged ids: a mutation with any input, or a read. */
export function forgedOperation(random: Random, schema: GraphQLSchema): string {
  return new Forger(random).operation(schema);
}

/** Makes the ids of one operation. Most of them have one scope, for an input that names two is refused. */
class Forger {
  readonly #random: Random;
  readonly #scopes: Readonly<Record<OwnerType, string>>;

  constructor(random: Random) {
    this.#random = random;
    this.#scopes = { Project: random.pick(idsOf.Project), Organization: random.pick(idsOf.Organization) };
  }

  operation(schema: GraphQLSchema): string {
    const random = this.#random;
    if (random.once(4)) {
      const type = random.pick(['Dashboard', 'Event', 'Plugin'] as const);
      return `{ node(id: "${this.#globalId(type)}") { id ... on ${type} { upstreamId } } }`;
    }
    const all = Object.values(schema.getMutationType()?.getFields() ?? {});
    const field = random.pick(random.once(2) ? all : all.filter(namesOthers));
    return `mutation { ${field.name}(input: { ${this.#input(field)} }) { __typename ${selectionOf(field)} } }`;
  }

  #input(field: GraphQLField<unknown, unknown>): string {
    const noun = nounOf(field.name);
    const given = inputFields(field).filter(({ name, type }) => {
      if (isNonNullType(type) || isNaming(name)) return true;
      return getNamedType(type).name === 'ID' ? this.#random.once(2) : name === 'name' || name === 'files';
    });
    return given.map((one) => `${one.name}: ${this.#value(one, noun)}`).join(', ');
  }

  #value({ name, type }: GraphQLInputField, noun: WrittenNoun): string {
    if (name === 'files') return '[{ name: "index.ts", text: "" }]';
    if (name === 'tileId') return '1';
    const named = getNamedType(type).name;
    if (named === 'JSON') return '{}';
    if (named !== 'ID') return isListType(type) ? '[]' : '"x"';
    if (name === 'projectId') return `"${this.#own('Project')}"`;
    if (name === 'organizationId') return `"${this.#own('Organization')}"`;
    if (noun === 'Project' && name === 'id') return `"${this.#own('Project')}"`;
    const target = isNaming(name) ? 'Dashboard' : noun;
    return `"${this.#random.once(6) ? this.#random.pick(idsOf[target]) : this.#globalId(target)}"`;
  }

  #globalId(type: NodeType): string {
    const owner = ownerTypeOf(type);
    return toGlobalId({ type, scope: owner === undefined ? '' : this.#own(owner), id: this.#random.pick(idsOf[type]) });
  }

  #own(owner: OwnerType): string {
    return this.#random.once(6) ? this.#random.pick(idsOf[owner]) : this.#scopes[owner];
  }
}

/** True for an input field by which a body names a dashboard. */
function isNaming(name: string): boolean {
  return name.endsWith('DashboardId');
}

function namesOthers(field: GraphQLField<unknown, unknown>): boolean {
  return inputFields(field).some(({ name }) => isNaming(name));
}

function inputFields({ args, name: mutation }: GraphQLField<unknown, unknown>): readonly GraphQLInputField[] {
  const input = args[0] && getNamedType(args[0].type);
  if (!isInputObjectType(input)) throw new Error(`${mutation} has no input`);
  return Object.values(input.getFields());
}

type WrittenNoun = 'Project' | 'Dashboard' | 'Plugin';

function nounOf(mutation: string): WrittenNoun {
  if (mutation.includes('Project')) return 'Project';
  return mutation.includes('Dashboard') ? 'Dashboard' : 'Plugin';
}

function selectionOf({ type, name }: GraphQLField<unknown, unknown>): string {
  const payload = getNamedType(type);
  const noun = nounOf(name);
  const field = noun.toLowerCase();
  const isAnswered = isObjectType(payload) && payload.getFields()[field] !== undefined;
  return isAnswered ? `${field} { upstreamId name ${noun === 'Dashboard' ? 'tiles' : ''} }` : '';
}

/** The columns by which a body names dashboards. */
const naming: readonly string[] = ['use_dashboard', 'toDashboard', 'primary_dashboard'];

function namedIn(body: string): readonly string[] {
  const sent: unknown = body === '' ? {} : JSON.parse(body);
  return isObject(sent) ? naming.map((name) => idText(sent[name])).filter((id) => id !== undefined) : [];
}

/** True if all that a body names is in projects that a tenant reaches. */
export function reachesNamed(reach: Reach | undefined, body: string): boolean {
  return namedIn(body).every((id) => reaches(reach, { noun: 'Project', scope: '', id: projectOf(id) }));
}

/** The project of a dashboard: the hundreds of its id. */
function projectOf(id: string): string {
  return id.slice(0, -2);
}

/**
 * The upstream's answer to a write: made of the row that the path names and of all that the body names. As in the known
 * deployment, an id of the body is found in any project. With a reach, rows outside of it do not exist. Throws NOT_FOUND.
 */
export function writeAnswer(world: World, path: string, body: string, reach: Reach | undefined): unknown {
  const { base = path, action } = /^(?<base>.*\/\d+\/)(?<action>[a-z]\w*\/)$/.exec(path)?.groups ?? {};
  const isRow = /\/\d+\/$/.test(base);
  const id = base.split('/').at(-2) ?? '';
  const isLoose = action === 'move_tile/';
  const row = isRow ? (isLoose ? dashboardIn(world, id, reach) : answerOf(world, base)) : { id: 77, name: 'new' };
  const named = namedIn(body).map((one) => dashboardIn(world, one, reach));
  const rows = [row, ...named].filter(isObject);
  return { ...rows[0], name: rows.map(({ name }) => name).join(), tiles: rows.flatMap(({ tiles }) => tiles ?? []) };
}

function dashboardIn(world: World, id: string, reach: Reach | undefined): Row {
  const project = projectOf(id);
  const rows = world.lists.get(`/api/projects/${project}/dashboards/`) ?? [];
  const row = rows.find((one) => idText(one['id']) === id);
  if (row === undefined || !reaches(reach, { noun: 'Project', scope: '', id: project }))
    throw new UpstreamError('NOT_FOUND', { status: 404 });
  return row;
}
