import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql';
import type { CursorCodec } from '../../src/context.ts';
import { toGlobalId } from '../../src/graphql/ids.ts';
import type { Noun } from '../../src/rest/nouns.ts';
import type { ListRef } from '../../src/rest/pages.ts';
import { idText } from '../../src/rest/values.ts';
import { pathOf } from './contract.ts';
import type { Random } from './random.ts';
import { organizationIds, realOrganizationIds, type World } from './world.ts';

/** Ids of rows that no world has. */
const absentId = '99';
const absentEventId = 'e-99';

/** The options of random operations. */
export interface OperationOptions {
  readonly random: Random;
  readonly world: World;
  readonly schema: GraphQLSchema;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  /** The deepest nesting, and the most fields of a selection. */
  readonly depth: number;
  readonly width: number;
  /** True if ids may be of objects that do not exist. */
  readonly absent: boolean;
  /** True if any field is selected, also those that no row of the world has. */
  readonly everyField?: boolean;
  /** True if fragments are deferred: some always, some never, some by the variables. */
  readonly defers?: boolean;
}

/** Columns that are selected often, of the many that there are; they are in every row of the world. */
const columns: Readonly<Record<string, readonly string[]>> = {
  Project: ['id', 'upstreamId', 'name', 'timezone', 'organizationId', 'anonymizeIps', 'primaryDashboardId'],
  Dashboard: ['id', 'upstreamId', 'name', 'pinned', 'tiles', 'useTemplate', 'useDashboardId'],
  Event: ['id', 'upstreamId', 'event', 'timestamp', 'distinctId'],
  Plugin: ['id', 'upstreamId', 'name', 'tag', 'organizationId', 'organizationName'],
  Organization: ['id', 'upstreamId', 'name'],
};

/** Fields of events that are answered as a whole. */
const tables: ReadonlySet<string> = new Set(['eventValues', 'eventsCsv', 'eventRows']);

/** A random query as text; its two variables are `$yes: Boolean = true` and `$no: Boolean = false`. */
export function operationOf(options: OperationOptions): string {
  const query = options.schema.getQueryType();
  if (query === null || query === undefined) throw new Error('no query type');
  const writer = new Writer(options);
  const selection = writer.selection(query, options.depth, undefined);
  const fragments = writer.fragments.join(' ');
  const text = `query ($yes: Boolean = true, $no: Boolean = false) { ok: __typename @include(if: $yes) ${selection} none: __typename @include(if: $no) } ${fragments}`;
  // The same text may stand in it twice, and no label may.
  let labels = 0;
  return text.replaceAll('label: "_"', () => `label: "${(labels += 1)}"`);
}

/** The upstream id of the object around a field, if the text knows it. */
type Scope = string | undefined;

/** More only make operations longer. */
const mostDeferrals = 12;

class Writer {
  readonly fragments: string[] = [];
  readonly #options: OperationOptions;
  #names = 0;
  #deferrals = 0;

  constructor(options: OperationOptions) {
    this.#options = options;
  }

  selection(type: GraphQLObjectType, depth: number, scope: Scope): string {
    const { random, width } = this.#options;
    // Plugins named by id below `@current`: a row that another selection reads may tell their organization or come too
    // late to, so the fewest calls are a matter of timing.
    const isTimed = (name: string): boolean => name === 'unusedPlugins' && scope === '@current';
    const fields = Object.values(type.getFields()).filter(
      (field) => this.#isOffered(type, field, depth) && !isTimed(field.name),
    );
    const count = random.number(1, width);
    let field = random.pick(fields);
    const texts = Array.from({ length: count }, () => {
      // The same field again, with other arguments, is what calls can be saved on.
      if (!random.once(3)) field = random.pick(fields);
      return this.#field(field, type, depth, scope);
    });
    return texts.map((text) => this.#deferred(this.#wrapped(text, type), type)).join(' ');
  }

  /** Some fields come later: alone, beside the same ones at once, or as a fragment that is spread both ways. */
  #deferred(text: string, { name: type }: GraphQLObjectType): string {
    const { random, defers = false } = this.#options;
    if (!defers || this.#deferrals === mostDeferrals || !random.once(3)) return text;
    this.#deferrals += 1;
    const defer = random.pick(['@defer', '@defer(label: "_")', '@defer(if: $yes, label: "_")', '@defer(if: $no)']);
    if (!random.once(4)) return `... ${defer} { ${text} }`;
    if (random.once(2)) return `${text} ... on ${type} ${defer} { ${text} }`;
    const name = this.#name('D');
    this.fragments.push(`fragment ${name} on ${type} { ${text} }`);
    return random.once(2) ? `...${name} ${defer}` : `...${name} ${defer} ...${name}`;
  }

  #isOffered(type: GraphQLObjectType, { name, type: answer }: GraphQLField<unknown, unknown>, depth: number): boolean {
    const { everyField = false } = this.#options;
    const offered = everyField ? undefined : columns[type.name];
    if (!isLeafType(getNamedType(answer)))
      return depth > 0 && (everyField || name !== 'createdBy') && name !== 'pageInfo';
    if (name === 'eventCsv' || name === 'eventValuesCsv') return depth > 0;
    return offered === undefined || offered.includes(name);
  }

  /** Any way to write a field that does not change what it means. */
  #wrapped(text: string, type: GraphQLObjectType): string {
    switch (this.#options.random.number(0, 11)) {
      case 0:
        return `... on ${type.name} { ${text} }`;
      case 1:
        return `... @skip(if: $no) { ${text} }`;
      case 2:
        return `... @include(if: $no) { ${text} } ${text}`;
      case 3: {
        const name = this.#name('F');
        this.fragments.push(`fragment ${name} on ${type.name} { ${text} }`);
        return `...${name} ...${name}`;
      }
      default:
        return text;
    }
  }

  #field(field: GraphQLField<unknown, unknown>, parent: GraphQLObjectType, depth: number, scope: Scope): string {
    const type = getNamedType(field.type);
    const alias = this.#name(field.name);
    if (isLeafType(type)) return `${alias}: ${field.name}${this.#leafArguments(field, scope)}`;
    if (isInterfaceType(type)) return this.#node(alias, field.name, depth);
    if (!isObjectType(type)) throw new Error(`no operation can select ${type.name}`);
    const { args, inner } = this.#arguments(field, parent, type, scope);
    return `${alias}: ${field.name}${args} { ${this.#below(type, depth, inner)} }`;
  }

  #below(type: GraphQLObjectType, depth: number, scope: Scope): string {
    const { random, schema } = this.#options;
    if (type.name === 'EventsCsvPage') return 'csv hasNextPage';
    if (type.name === 'EventRowsPage') return 'rows hasNextPage';
    if (!type.name.endsWith('Connection')) return this.selection(type, depth - 1, scope);
    const row = schema.getType(type.name.replace('Connection', ''));
    if (!isObjectType(row)) throw new Error(`${type.name} is of nothing`);
    const isCounted = type.getFields()['totalCount'] !== undefined;
    const count = isCounted ? 'totalCount' : 'nodes { id }';
    switch (random.number(0, 7)) {
      case 0:
        return count;
      case 1:
        return 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
      case 2:
        return `nodes { __typename } ${count}`;
      case 3:
        return `edges { cursor node { ${this.selection(row, depth - 1, undefined)} } }`;
      default:
        return `nodes { ${this.selection(row, depth - 1, undefined)} }`;
    }
  }

  #node(alias: string, name: string, depth: number): string {
    const { random, schema, maxPageSize } = this.#options;
    const kinds: readonly ('Organization' | Noun)[] = [
      'Project',
      'Dashboard',
      'Dashboard',
      'Event',
      'Plugin',
      'Organization',
    ];
    const noun = random.pick(kinds);
    const type = schema.getType(noun);
    if (!isObjectType(type)) throw new Error(`no ${noun}`);
    const ids = Array.from({ length: name === 'nodes' ? random.number(1, Math.min(5, maxPageSize)) : 1 }, () =>
      this.#globalId(noun),
    );
    const argument = name === 'nodes' ? `ids: ${JSON.stringify(ids)}` : `id: "${ids[0]}"`;
    const scope = ids.length === 1 && noun !== 'Plugin' ? undefined : undefined;
    return `${alias}: ${name}(${argument}) { ... on ${noun} { ${this.selection(type, depth - 1, scope)} } }`;
  }

  #globalId(noun: 'Organization' | Noun): string {
    const { random } = this.#options;
    const [project, organization] = [random.pick(this.#projects()), random.pick(realOrganizationIds)];
    if (noun === 'Organization') return toGlobalId({ type: noun, scope: '', id: organization });
    if (noun === 'Project') return toGlobalId({ type: noun, scope: '', id: project });
    const scope = noun === 'Plugin' ? organization : project;
    return toGlobalId({ type: noun, scope, id: this.#rowId(noun, scope) });
  }

  /** The id of a row, one of the first few; of one that is not there only if there is none, or that is wanted. */
  #rowId(noun: Noun, scope: Scope): string {
    const { random, world, absent } = this.#options;
    const rows = (world.lists.get(pathOf(noun, scope ?? '1')) ?? []).slice(0, 5);
    if (rows.length > 0 && !(absent && random.once(3))) return idText(random.pick(rows)['id']) ?? '';
    return noun === 'Event' ? absentEventId : absentId;
  }

  #projects(): readonly string[] {
    const { world, absent } = this.#options;
    const ids = (world.lists.get(pathOf('Project', '')) ?? []).map(({ id }) => idText(id) ?? '');
    return absent ? [...ids, '9'] : ids;
  }

  #leafArguments({ name }: GraphQLField<unknown, unknown>, scope: Scope): string {
    if (name === 'eventCsv') return `(id: "${this.#rowId('Event', scope)}")`;
    return name === 'eventValuesCsv' ? this.#tableArguments(name) : '';
  }

  #tableArguments(name: string): string {
    const { random, maxPageSize } = this.#options;
    const first = `first: ${random.number(1, maxPageSize)}`;
    const select = 'select: ["event"]';
    if (name === 'eventValues' || name === 'eventValuesCsv') return `(key: "${random.pick(['a', 'b'])}")`;
    if (name === 'eventsCsv') return `(${first}${random.once(2) ? `, ${select}` : ''})`;
    return `(${select}, ${first})`;
  }

  #arguments(
    field: GraphQLField<unknown, unknown>,
    parent: GraphQLObjectType,
    type: GraphQLObjectType,
    scope: Scope,
  ): { readonly args: string; readonly inner: Scope } {
    const { random } = this.#options;
    if (type.name.endsWith('Connection')) return { args: this.#page(field.name, parent, scope), inner: undefined };
    if (tables.has(field.name)) return { args: this.#tableArguments(field.name), inner: undefined };
    if (field.args.every((arg) => arg.name !== 'id')) return { args: '', inner: undefined };
    if (type.name === 'Project') {
      const [first = '1'] = this.#projects();
      const id = random.once(3) ? random.pick([...this.#projects(), '@current']) : first;
      return { args: `(id: "${id}")`, inner: id };
    }
    if (type.name === 'Organization') {
      const id = random.pick(organizationIds);
      return { args: `(id: "${id}")`, inner: id };
    }
    const noun = type.name === 'Event' || type.name === 'Plugin' ? type.name : 'Dashboard';
    return { args: `(id: "${this.#rowId(noun, scope)}")`, inner: undefined };
  }

  #page(name: string, parent: GraphQLObjectType, scope: Scope): string {
    const { random, maxPageSize } = this.#options;
    const size = random.number(0, maxPageSize);
    const isBackward = name !== 'events' && random.number(0, 3) === 0;
    const filter = name === 'events' && random.number(0, 3) === 0 ? ', filter: { event: "click" }' : '';
    const list = listOf(name, parent, scope, filter !== '');
    const cursor = list === undefined || random.once(2) ? '' : this.#cursor(list);
    return `(${isBackward ? 'last' : 'first'}: ${size}${filter}${cursor})`;
  }

  #cursor(list: ListRef): string {
    const { random, cursors } = this.#options;
    const argument = list.noun === 'Event' || random.once(2) ? 'after' : 'before';
    return `, ${argument}: "${cursors.encode(list, { offset: random.number(1, 12) })}"`;
  }

  #name(prefix: string): string {
    this.#names += 1;
    return `${prefix}_${this.#names}`;
  }
}

/** The list of a connection, if the text says whose it is. */
function listOf(
  name: string,
  { name: parent }: GraphQLObjectType,
  scope: Scope,
  isFiltered: boolean,
): ListRef | undefined {
  if (name === 'projects') return { noun: 'Project', scope: '' };
  if (scope === undefined) return undefined;
  if (name === 'plugins') return { noun: 'Plugin', scope };
  if (parent !== 'Project') return undefined;
  if (name === 'dashboards') return { noun: 'Dashboard', scope };
  return { noun: 'Event', scope, filter: isFiltered ? { event: 'click' } : {} };
}
