import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
} from 'graphql';
import type { CursorCodec } from '../../src/context.ts';
import { toGlobalId } from '../../src/graphql/ids.ts';
import type { Noun } from '../../src/rest/nouns.ts';
import type { ListRef } from '../../src/rest/pages.ts';
import { idText, isObject, type Row } from '../../src/rest/values.ts';
import { columnOf, isDetail, pathOf, reportTarget } from './contract.ts';
import type { ListPart, Source } from './facts.ts';
import { selects } from './selects.ts';

const folder = join(import.meta.dirname, '../../schema');
const sdl = globSync('*.graphql', { cwd: folder }).toSorted();
const schema = buildSchema(sdl.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n'));

/** One object, as the reference knows it: by its key, and the row that it came with. */
class Thing {
  readonly noun: Noun | 'Organization';
  readonly scope: string;
  readonly id: string;
  readonly row: Row | undefined;
  readonly name: unknown;
  /** The rows of the page that it came with. */
  readonly beside: readonly Row[];
  /** True if a field beside its id was asked for. Otherwise no read has to check that the object exists. */
  touched = false;

  constructor(
    noun: Noun | 'Organization',
    scope: string,
    id: string,
    row?: Row,
    name?: unknown,
    beside: readonly Row[] = [],
  ) {
    this.noun = noun;
    this.scope = scope;
    this.id = id;
    this.row = row;
    this.name = name;
    this.beside = beside;
  }
}

interface Connection {
  readonly list: ListRef;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The answer of a plain executor that asks `source` for each field on its own. */
export function answerFrom(
  source: Source,
  document: DocumentNode,
  cursors: CursorCodec,
  maxPageSize: number,
): ExecutionResult {
  const reference = new Reference(source, cursors, maxPageSize);
  const result = execute({
    schema,
    document,
    fieldResolver: reference.resolve,
    typeResolver: ({ noun }: Thing) => noun,
  });
  if (result instanceof Promise) throw new Error('the reference does not wait');
  reference.proveUntouched();
  return result;
}

class Reference {
  readonly #source: Source;
  readonly #cursors: CursorCodec;
  readonly #maxPageSize: number;
  readonly #named: Thing[] = [];

  constructor(source: Source, cursors: CursorCodec, maxPageSize: number) {
    this.#source = source;
    this.#cursors = cursors;
    this.#maxPageSize = maxPageSize;
  }

  /** An object of which only its id is asked must still be known to exist. */
  proveUntouched(): void {
    for (const thing of this.#named) if (!thing.touched) this.#row(thing, 'list');
  }

  readonly resolve: GraphQLFieldResolver<unknown, unknown, Readonly<Record<string, unknown>>> = (
    parent,
    args,
    _context,
    info,
  ) => {
    const { fieldName, parentType } = info;
    if (parent === undefined) return this.#root(fieldName, args);
    if (parent instanceof Thing) return this.#field(parent, fieldName, args);
    if (isConnection(parent)) return this.#connection(parent, fieldName, parentType.name, info);
    return isObject(parent) ? parent[fieldName] : undefined;
  };

  #root(name: string, args: Readonly<Record<string, unknown>>): unknown {
    if (name === 'projects') return { list: { noun: 'Project', scope: '' }, args };
    if (name === 'project') return this.#byName(new Thing('Project', '', String(args['id'])));
    if (name === 'organization') return new Thing('Organization', '', String(args['id']));
    const ids = Array.isArray(args['ids']) ? args['ids'].map(String) : undefined;
    return ids === undefined ? this.#node(String(args['id'])) : ids.map((id) => this.#node(id));
  }

  #node(id: string): Thing {
    const [noun = '', ...keys] = Buffer.from(id, 'base64url').toString().split(':');
    const [scope, own] = keys.length === 1 ? ['', keys[0] ?? ''] : [keys[0] ?? '', keys[1] ?? ''];
    if (noun === 'Organization') return new Thing(noun, '', own);
    if (!isNoun(noun)) throw new Error(`no ${noun}`);
    return this.#byName(new Thing(noun, scope, own));
  }

  #byName(thing: Thing): Thing {
    this.#named.push(thing);
    return thing;
  }

  #field(thing: Thing, name: string, args: Readonly<Record<string, unknown>>): unknown {
    const { noun, scope, id } = thing;
    if (name === 'id') return this.#globalId(thing);
    if (name === 'upstreamId') return this.#ownId(thing) ?? notKnown;
    // The project of an object proves nothing of the object.
    if (name !== 'project') thing.touched = true;
    if (noun === 'Organization') return this.#ofOrganization(thing, name, args);
    if (noun === 'Project' && name === 'event') return this.#byName(new Thing('Event', id, String(args['id'])));
    const target = reportTarget(thing, name, args);
    if (target !== undefined) return this.#report(thing, target, name);
    switch (name) {
      case 'project':
        return new Thing('Project', '', scope);
      case 'organization':
        return this.#organizationOf(thing);
      case 'dashboards':
        return { list: { noun: 'Dashboard', scope: id }, args };
      case 'events':
        return { list: { noun: 'Event', scope: id, filter: filterOf(args) }, args };
      case 'dashboard':
        return this.#byName(new Thing('Dashboard', id, String(args['id'])));
      case 'primaryDashboard':
      case 'useDashboard':
        return this.#referred(thing, name);
      default: {
        const column = columnOf(noun, name);
        return this.#row(thing, isDetail(noun, column) ? 'detail' : 'list')?.[column] ?? null;
      }
    }
  }

  #globalId(thing: Thing): string {
    const { noun, scope } = thing;
    const id = this.#ownId(thing);
    const real = scope === '@current' ? this.#scopeOf(thing) : scope;
    return id === undefined || real === undefined ? notKnown : toGlobalId({ type: noun, scope: real, id });
  }

  #ownId({ noun, id }: Thing): string | undefined {
    return id === '@current' && (noun === 'Project' || noun === 'Organization') ? this.#current(noun) : id;
  }

  /** Rows of plugins tell their organization, those that are of one alone. */
  #scopeOf(thing: Thing): string | undefined {
    if (thing.noun !== 'Plugin') return this.#current('Project');
    const own = thing.row ?? this.#row(thing, 'list');
    if (own === undefined) return undefined;
    const told = [...(own === null ? [] : [own]), ...thing.beside].find((row) => row['is_global'] !== true);
    return told === undefined ? this.#current('Organization') : String(told['organization_id']);
  }

  /** The id that `@current` stands for. */
  #current(noun: 'Project' | 'Organization'): string | undefined {
    const row = this.#source.row({ kind: 'row', path: pathOf('Project', ''), id: '@current', view: 'list' });
    return idText(row?.[noun === 'Project' ? 'id' : 'organization']);
  }

  #ofOrganization(thing: Thing, name: string, args: Readonly<Record<string, unknown>>): unknown {
    const { id } = thing;
    if (name === 'plugins') return { list: { noun: 'Plugin', scope: id }, args };
    if (name === 'plugin') return this.#byName(new Thing('Plugin', id, String(args['id'])));
    if (name !== 'name') return this.#report(thing, reportTarget(thing, name, args) ?? '', name);
    if (thing.name !== undefined) return thing.name;
    const row = this.#source.any({ kind: 'any', path: pathOf('Plugin', id), organization: id });
    return row?.['organization_name'] ?? null;
  }

  #organizationOf(thing: Thing): Thing | null {
    const row = this.#row(thing, 'list');
    const id = row?.[thing.noun === 'Plugin' ? 'organization_id' : 'organization'];
    const name = thing.noun === 'Plugin' ? (row?.['organization_name'] ?? null) : undefined;
    return typeof id === 'string' ? new Thing('Organization', '', id, undefined, name) : null;
  }

  #referred(thing: Thing, name: 'primaryDashboard' | 'useDashboard'): Thing | null {
    const id = idText(this.#row(thing, 'detail')?.[name === 'useDashboard' ? 'use_dashboard' : 'primary_dashboard']);
    const scope = name === 'useDashboard' ? thing.scope : thing.id;
    return id === undefined ? null : new Thing('Dashboard', scope, id);
  }

  #report(thing: Thing, target: string, name: string): unknown {
    const body = this.#source.report({ kind: 'report', target });
    if (body === undefined || body === null) return null;
    if (name === 'eventValues') return { body, values: [{ body }] };
    if (name === 'eventCsv' || name === 'eventValuesCsv') return JSON.stringify(body);
    // A line of names alone.
    if (name === 'eventsCsv') return { csv: JSON.stringify(body), hasNextPage: false };
    if (name === 'eventRows') {
      const { results = null, next = null } = isObject(body) ? body : {};
      return { rows: results, hasNextPage: next !== null };
    }
    if (name === 'unusedPlugins' && Array.isArray(body))
      return body.map((id) => new Thing('Plugin', thing.id, idText(id) ?? ''));
    if (name === 'pluginExportsUnsubscribeConfigs') return [body];
    if (name === 'pluginRepository') return [{ body }];
    if (name === 'pluginActivity') return { body, entries: [{ body }], hasNextPage: false, endCursor: null };
    const files = isObject(body) ? Object.entries(body) : [];
    return { body, files: files.map(([file, text]) => ({ name: file, text })) };
  }

  /** The row that the thing came with, if it has the columns, else its own. */
  #row({ noun, scope, id, row }: Thing, view: 'list' | 'detail'): Row | null | undefined {
    if (row !== undefined && (view === 'list' || noun === 'Event' || noun === 'Plugin')) return row;
    if (noun === 'Organization') return null;
    return this.#source.row({ kind: 'row', path: pathOf(noun, scope), id, view });
  }

  #connection({ list, args }: Connection, name: string, type: string, info: GraphQLResolveInfo): unknown {
    const place = name === 'edges' ? ['node', 'id'] : ['id'];
    // It is read beside the page, which may turn out to be empty.
    if (list.scope === '@current' && list.noun !== 'Plugin' && selects(info.fieldNodes, place, info))
      this.#current('Project');
    if (name === 'totalCount') return this.#source.count({ kind: 'count', list })?.count ?? null;
    const page = this.#page(list, args, name === 'pageInfo');
    const rows = page === undefined ? [] : page.rows;
    const cursorAt = (index: number): string | null =>
      page === undefined || index < 0 || index >= rows.length
        ? null
        : this.#cursors.encode(list, { offset: page.offset + index + 1 });
    const things = rows.map((row) => new Thing(list.noun, list.scope, idText(row['id']) ?? '', row, undefined, rows));
    if (name === 'nodes') return things;
    if (name === 'edges') return things.map((node, index) => ({ node, cursor: cursorAt(index) }));
    if (name !== 'pageInfo') throw new Error(`${type}.${name} is not tested`);
    return {
      hasNextPage: page?.goesOn ?? false,
      hasPreviousPage: page?.comesAfter ?? false,
      startCursor: cursorAt(0),
      endCursor: cursorAt(rows.length - 1),
    };
  }

  /** The Relay cursor connections specification §4.4, over windows of the list. */
  #page(list: ListRef, args: Readonly<Record<string, unknown>>, isInfo: boolean): Page | undefined {
    const offsetOf = (name: 'after' | 'before'): number | undefined => {
      const cursor = args[name];
      return typeof cursor === 'string' ? this.#cursors.decode(list, cursor, name).offset : undefined;
    };
    const [first, last] = [numberOf(args['first']), numberOf(args['last'])];
    const start = offsetOf('after') ?? 0;
    const end = (offsetOf('before') ?? Number.POSITIVE_INFINITY) - 1;
    const size = last ?? first ?? Math.min(50, this.#maxPageSize);
    if (last !== undefined && end === Number.POSITIVE_INFINITY) return this.#tail(list, start, size, isInfo);
    const offset = last === undefined ? start : Math.max(start, end - size);
    const limit = Math.max(0, Math.min(size, end - offset));
    if (limit === 0) return this.#empty(list, offset, 'forward', isInfo);
    const window = this.#source.window({ kind: 'window', list, offset, limit });
    return window === undefined || window === null ? undefined : { ...window, offset, comesAfter: offset > 0 };
  }

  /** One page of the maximum size first; if the list does not end in it, its end by the count. */
  #tail(list: ListRef, start: number, size: number, isInfo: boolean): Page | undefined {
    if (size === 0) return this.#empty(list, start, 'backward', isInfo);
    const page = this.#source.window({ kind: 'window', list, offset: start, limit: this.#maxPageSize });
    if (page === undefined || page === null) return undefined;
    if (!page.goesOn) {
      const from = Math.max(0, page.rows.length - size);
      const offset = start + from;
      return { ...page, rows: page.rows.slice(from), offset, comesAfter: offset > 0 };
    }
    const offset = Math.max(start, (page.count ?? 0) - size);
    const end = this.#source.window({ kind: 'window', list, offset, limit: size });
    return end === undefined || end === null ? undefined : { ...end, offset, comesAfter: offset > 0 };
  }

  /** No rows: whether there are any on the side that was asked about is only told if a field asks. */
  #empty(list: ListRef, offset: number, direction: 'forward' | 'backward', isInfo: boolean): Page | undefined {
    const fact = { list, offset, limit: 1 };
    const probe = isInfo
      ? this.#source.window({ kind: 'window', ...fact })
      : this.#source.count({ kind: 'count', list });
    if (probe === undefined || probe === null) return undefined;
    const found = probe.rows.length > 0;
    const goesOn = direction === 'forward' && found;
    return {
      rows: [],
      count: probe.count,
      offset,
      goesOn,
      comesAfter: offset > 0 || (direction === 'backward' && found),
    };
  }
}

/** An id that the source does not know yet. Null would end the object that it belongs to, and what else is asked of it. */
const notKnown = 'not known';

interface Page extends ListPart {
  readonly offset: number;
  readonly comesAfter: boolean;
}

function isConnection(value: unknown): value is Connection {
  return isObject(value) && 'list' in value;
}

function isNoun(text: string): text is Noun {
  return text === 'Project' || text === 'Dashboard' || text === 'Event' || text === 'Plugin';
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function filterOf(args: Readonly<Record<string, unknown>>): ListRef['filter'] {
  const filter = args['filter'];
  return isObject(filter) && typeof filter['event'] === 'string' ? { event: filter['event'] } : {};
}
