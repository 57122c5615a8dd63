import { isObject } from '../../src/rest/values.ts';
import type { TestGateway } from './gateway.ts';
import type { JsonObject } from './replies.ts';

/** Where a test asks for a connection: the field, and what surrounds it. */
export interface Place {
  readonly field: 'projects' | 'dashboards' | 'events' | 'plugins';
  /** The selection around the field, by the names of the fields on the way; `project(id: 1)` for example. */
  readonly under?: string;
}

/** The arguments of a connection, `filter` of events included. */
export type Arguments = Readonly<Record<string, unknown>>;

/** One page of a connection, each row as its upstream id. */
export interface Page {
  readonly rows: readonly string[];
  readonly cursors: readonly string[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
  /** Undefined for events, which are not counted. */
  readonly totalCount?: unknown;
}

/** The value at a path of something untyped; throws if the path leads nowhere. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const name of path) {
    const inside: unknown = Array.isArray(here) ? here[Number(name)] : isObject(here) ? here[name] : undefined;
    if (inside === undefined) throw new Error(`no ${path.join('.')} in ${JSON.stringify(value)}`);
    here = inside;
  }
  return here;
}

/** The text at a path of something untyped; throws if there is none. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const text = at(value, ...path);
  if (typeof text !== 'string') throw new Error(`expected a text at ${path.join('.')} but got ${String(text)}`);
  return text;
}

/** Asks for one page and reads it. Throws if the answer has errors, or if `nodes` and `edges` differ. */
export async function askPage(gateway: TestGateway, place: Place, args: Arguments = {}): Promise<Page> {
  const { query, variables } = pageRequest(place, args);
  const answer = await gateway.ask(query, { variables });
  if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors));
  const outer: unknown = place.under === undefined ? answer.data : Object.values(toObject(answer.data))[0];
  return toPage(at(outer, place.field));
}

/** The types of what differs between the pages of a walk. */
const variableTypes: Readonly<Record<string, string>> = {
  first: 'Int',
  last: 'Int',
  after: 'String',
  before: 'String',
};

/**
 * The operation that `askPage` asks. What differs between pages is in variables, so that a gateway reads, validates and
 * plans a walk once: that takes most of the time of a page.
 */
function pageRequest({ field, under }: Place, args: Arguments): { query: string; variables: Arguments } {
  const isVariable = ([name, value]: [string, unknown]): boolean =>
    name in variableTypes && value !== null && value !== undefined;
  const variables: Record<string, unknown> = Object.fromEntries(Object.entries(args).filter(isVariable));
  const outer = under?.replace(/\(id: (\d+)\)/, (_all, id: string) => {
    variables['owner'] = id;
    return '(id: $owner)';
  });
  const declared = Object.keys(variables).map((name) => `$${name}: ${variableTypes[name] ?? 'ID!'}`);
  const list = Object.entries(args).map(
    ([name, value]) => `${name}: ${name in variables ? `$${name}` : literal(value)}`,
  );
  const page = fieldOf(field, list, field, wholePage(field));
  const head = declared.length === 0 ? '' : `query (${declared.join(', ')}) `;
  return { query: `${head}{ ${outer === undefined ? page : `${outer} { ${page} }`} }`, variables };
}

/** The field with its arguments, and everything that a page has unless less is selected. */
export function pageField(
  { field }: Place,
  args: Arguments,
  alias: string = field,
  selection: string = wholePage(field),
): string {
  return fieldOf(field, [membersOf(args)].filter(Boolean), alias, selection);
}

function fieldOf(field: string, args: readonly string[], alias: string, selection: string): string {
  return `${alias}: ${field}${args.length === 0 ? '' : `(${args.join(', ')})`} { ${selection} }`;
}

function wholePage(field: Place['field']): string {
  return `${field === 'events' ? '' : 'totalCount'} nodes { upstreamId } edges { cursor node { upstreamId } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`;
}

/** Reads what `pageField` selects. */
export function toPage(connection: unknown): Page {
  const edges = listAt(connection, 'edges');
  const rows = edges.map((edge) => textAt(edge, 'node', 'upstreamId'));
  const nodes = listAt(connection, 'nodes').map((node) => textAt(node, 'upstreamId'));
  if (nodes.join() !== rows.join()) throw new Error(`nodes ${nodes.join()} are not the edges' ${rows.join()}`);
  const info = at(connection, 'pageInfo');
  const { totalCount } = toObject(connection);
  return {
    rows,
    cursors: edges.map((edge) => textAt(edge, 'cursor')),
    hasNextPage: at(info, 'hasNextPage') === true,
    hasPreviousPage: at(info, 'hasPreviousPage') === true,
    startCursor: textOrNull(at(info, 'startCursor')),
    endCursor: textOrNull(at(info, 'endCursor')),
    ...(totalCount !== undefined && { totalCount }),
  };
}

/** Walks forward from the start to the end: the pages, at most 100 of them. */
export async function walkForward(gateway: TestGateway, place: Place, size: number, extra = {}): Promise<Page[]> {
  return walk(
    (cursor) => askPage(gateway, place, { ...extra, first: size, after: cursor }),
    (page) => (page.hasNextPage ? page.endCursor : null),
  );
}

/** Walks backward from the end to the start: the pages as they came, the last one of the list first. */
export async function walkBackward(gateway: TestGateway, place: Place, size: number): Promise<Page[]> {
  return walk(
    (cursor) => askPage(gateway, place, { last: size, before: cursor }),
    (page) => (page.hasPreviousPage ? page.startCursor : null),
  );
}

/** `count` rows, ids from 1. */
export function rowsOf(count: number, row: (id: number) => JsonObject): JsonObject[] {
  return Array.from({ length: count }, (_, index) => row(index + 1));
}

/** The ids of rows, as a page shows them. */
export function idsOf(rows: readonly JsonObject[]): string[] {
  return rows.map(({ id }) => (typeof id === 'number' ? `${id}` : textAt(id)));
}

async function walk(
  read: (cursor: string | null) => Promise<Page>,
  following: (page: Page) => string | null,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const page = await read(cursor);
    pages.push(page);
    cursor = following(page);
  } while (cursor !== null && pages.length < 100);
  return pages;
}

/** The members of an object as GraphQL writes them: names without quotes. */
function membersOf(object: Readonly<Record<string, unknown>>): string {
  return Object.entries(object)
    .map(([name, value]) => `${name}: ${literal(value)}`)
    .join(', ');
}

function literal(value: unknown): string {
  return isObject(value) ? `{ ${membersOf(value)} }` : JSON.stringify(value ?? null);
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const list = at(value, name);
  if (!Array.isArray(list)) throw new Error(`expected a list at ${name} but got ${String(list)}`);
  return list;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Error(`expected an object but got ${String(value)}`);
  return value;
}
