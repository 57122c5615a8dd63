import type { DocumentNode } from 'graphql';
import type { CursorCodec } from '../../src/context.ts';
import type { ListRef } from '../../src/rest/pages.ts';
import { idText, type Row } from '../../src/rest/values.ts';
import { pageTarget, pathOf } from './contract.ts';
import type { Fact, ListPart, Source } from './facts.ts';
import { NaiveSource } from './naive.ts';
import { answerFrom } from './reference.ts';
import type { World } from './world.ts';

/** A page that a schedule reads. */
interface Page {
  readonly list: ListRef;
  readonly offset: number;
  readonly limit: number;
}

interface Knowledge {
  readonly pages: readonly Page[];
  /** `path id` of rows that were read by id. */
  readonly rows: ReadonlySet<string>;
  /** Those that have waited for a page of their list: if they were not in it, they are read by id. */
  readonly waited: ReadonlySet<string>;
  readonly reports: ReadonlySet<string>;
}

type RowFact = Fact & { readonly kind: 'row' };
type WindowFact = Fact & { readonly kind: 'window' };

/** The input of the search, and the different facts that it met. */
interface Search {
  readonly world: World;
  readonly document: DocumentNode;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  readonly met: Set<string>;
  readonly mostFacts: number;
}

/** The most rows of one list that are read by id without a page of it first. */
const most = 2;

/**
 * The fewest calls of any schedule in which all that does not wait for an answer starts at once, three or more rows of
 * a list are looked for in its first page, and a row waits for a page of its list that is read at the same time. Rows that
 * were wanted at different times are looked for apart.
 * Undefined if more than `mostFacts` facts are needed.
 */
export function fewestCalls(options: Omit<Search, 'met'>): number | undefined {
  const search = { ...options, met: new Set<string>() };
  const fewest = callsFrom({ pages: [], rows: new Set(), waited: new Set(), reports: new Set() }, search);
  return search.met.size > search.mostFacts ? undefined : fewest;
}

function callsFrom(known: Knowledge, search: Search): number {
  const missing = missingFacts(known, search);
  for (const fact of missing) search.met.add(JSON.stringify(fact));
  if (missing.length === 0 || search.met.size > search.mostFacts) return 0;
  const steps = stepsFrom(known, missing, search);
  return Math.min(...steps.map(({ calls, next }) => calls + callsFrom(next, search)));
}

/** Facts that fields need and that are not known yet, each once. */
function missingFacts(known: Knowledge, { world, document, cursors, maxPageSize }: Search): readonly Fact[] {
  const missing = new Map<string, Fact>();
  const source = sourceOf(known, world, (fact) => void missing.set(JSON.stringify(fact), fact));
  answerFrom(source, document, cursors, maxPageSize);
  return [...missing.values()];
}

interface Step {
  readonly calls: number;
  readonly next: Knowledge;
}

/** The calls that may be made next: pages in every way that windows can share them. */
function stepsFrom(known: Knowledge, missing: readonly Fact[], { maxPageSize }: Search): readonly Step[] {
  const windows = missing.filter((fact) => fact.kind === 'window');
  const rows = missing.filter((fact) => fact.kind === 'row');
  const reports = missing.filter((fact) => fact.kind === 'report').map(({ target }) => target);
  const direct = rows.filter((row) => isById(row) || known.waited.has(nameOf(row))).map(nameOf);
  const sought = rows.filter((row) => !direct.includes(nameOf(row)));
  const waited = new Set([...known.waited, ...sought.map(nameOf)]);
  const standIns = [...Map.groupBy(sought, ({ path }) => path).values()]
    .filter((keys) => new Set(keys.map(nameOf)).size > most)
    .map(([first]): WindowFact => ({ kind: 'window', list: listAt(first?.path ?? ''), offset: 0, limit: maxPageSize }));
  return arrangements([...windows, ...standIns], maxPageSize).map((arranged) => {
    const pages = [...arranged, ...countPages(missing, arranged)];
    const byId = new Set(direct);
    const isAwaited = (path: string): boolean => pages.some(({ list }) => pathOf(list.noun, list.scope) === path);
    for (const row of sought) if (!isAwaited(row.path)) byId.add(nameOf(row));
    const more = anyPages(missing, pages, byId);
    return {
      calls: pages.length + more.length + byId.size + reports.length,
      next: {
        pages: [...known.pages, ...pages, ...more],
        rows: new Set([...known.rows, ...byId]),
        waited,
        reports: new Set([...known.reports, ...reports]),
      },
    };
  });
}

/** Only a row of its own has what lists leave out, or tells which project is `@current`. */
function isById({ path, id, view }: RowFact): boolean {
  if (id === '@current') return true;
  return view === 'detail' && !path.endsWith('/events/') && !path.endsWith('/plugins/');
}

/** Every way to read windows as pages of at most `maximum` rows that are no longer than the windows in them. */
function arrangements(windows: readonly WindowFact[], maximum: number): readonly (readonly Page[])[] {
  const [window, ...others] = windows;
  if (window === undefined) return [[]];
  return arrangements(others, maximum).flatMap((pages) => {
    const joined = pages.flatMap((page, index) => {
      const both = merged(page, window);
      return both.limit <= maximum && isSameList(page.list, window.list) ? [pages.with(index, both)] : [];
    });
    return [[...pages, window], ...joined];
  });
}

function merged({ list, offset, limit }: Page, other: Page): Page {
  const start = Math.min(offset, other.offset);
  return { list, offset: start, limit: Math.max(offset + limit, other.offset + other.limit) - start };
}

/** A page of one row for each list of which only the count is wanted. */
function countPages(missing: readonly Fact[], pages: readonly Page[]): readonly Page[] {
  const lists = missing.filter((fact) => fact.kind === 'count').map(({ list }) => list);
  return lists
    .filter((list, index) => lists.findIndex((other) => isSameList(list, other)) === index)
    .filter((list) => !pages.some((page) => isSameList(page.list, list)))
    .map((list) => ({ list, offset: 0, limit: 1 }));
}

/** A page of one row for each list of which any row is wanted and none comes. */
function anyPages(missing: readonly Fact[], pages: readonly Page[], rows: ReadonlySet<string>): readonly Page[] {
  const paths = missing.filter((fact) => fact.kind === 'any').map(({ path }) => path);
  return [...new Set(paths)]
    .filter((path) => !pages.some(({ list }) => pathOf(list.noun, list.scope) === path))
    .filter((path) => ![...rows].some((row) => row.startsWith(`${path} `)))
    .map((path) => ({ list: listAt(path), offset: 0, limit: 1 }));
}

/** A source of what a schedule has read, which notes what it has not. */
function sourceOf(known: Knowledge, world: World, note: (fact: Fact) => void): Source {
  const naive = new NaiveSource(world);
  const pageFor = (list: ListRef, test: (page: Page) => boolean): Page | undefined =>
    known.pages.find((page) => isSameList(page.list, list) && test(page));
  const rowsOf = (path: string): readonly Row[] => [
    ...known.pages
      .filter(({ list }) => pathOf(list.noun, list.scope) === path)
      .flatMap((page) => read(naive, page).rows),
    ...[...known.rows].filter((row) => row.startsWith(`${path} `)).flatMap((row) => rowOf(naive, row)),
  ];
  const isOfCurrent = ({ path, id }: RowFact): boolean =>
    known.rows.has(`${path} @current`) && idText(rowOf(naive, `${path} @current`)[0]?.['id']) === id;
  return {
    row: (fact) => {
      if (known.rows.has(nameOf(fact)) || isOfCurrent(fact)) return naive.row(fact);
      const listed = isById(fact) ? undefined : rowsOf(fact.path).find((row) => idText(row['id']) === fact.id);
      if (listed === undefined) note(fact);
      return listed;
    },
    window: (fact) => {
      const page = pageFor(fact.list, (one) => contains(one, fact));
      if (page === undefined) note(fact);
      return page && naive.window(fact);
    },
    count: (fact) => {
      const page = pageFor(fact.list, () => true);
      if (page === undefined) note(fact);
      return page && naive.count(fact);
    },
    any: (fact) => {
      const row = rowsOf(fact.path).find((one) => isOwn(one, fact.organization));
      if (row !== undefined) return row;
      const isRead = known.pages.some(
        (page) => pathOf(page.list.noun, page.list.scope) === fact.path && page.offset === 0,
      );
      if (!isRead) note(fact);
      return isRead ? null : undefined;
    },
    report: (fact) => {
      if (known.reports.has(fact.target)) return naive.report(fact);
      note(fact);
      return undefined;
    },
  };
}

function read(source: NaiveSource, { list, offset, limit }: Page): ListPart {
  return source.window({ kind: 'window', list, offset, limit }) ?? { rows: [], count: undefined, goesOn: false };
}

function rowOf(source: NaiveSource, name: string): Row[] {
  const [path = '', id = ''] = name.split(' ');
  const row = source.row({ kind: 'row', path, id, view: 'detail' });
  return row === null || row === undefined ? [] : [row];
}

/** True if a plugin's row has the name of this organization, and not of the one that shares the plugin. */
function isOwn(row: Row, organization: string): boolean {
  return organization === '@current' ? row['is_global'] !== true : row['organization_id'] === organization;
}

function nameOf({ path, id }: RowFact): string {
  return `${path} ${id}`;
}

function isSameList(one: ListRef, other: ListRef): boolean {
  return pageTarget(one, 0, 1) === pageTarget(other, 0, 1);
}

function contains(page: Page, { offset, limit }: WindowFact): boolean {
  return page.offset <= offset && offset + limit <= page.offset + page.limit;
}

/** The unfiltered list at the path of a collection. */
function listAt(path: string): ListRef {
  const [, owner, scope = '', noun] = /^\/api\/(?:(projects|organizations)\/([^/]+)\/)?(\w+)\/$/.exec(path) ?? [];
  if (owner === undefined) return { noun: 'Project', scope: '' };
  return { noun: noun === 'plugins' ? 'Plugin' : noun === 'events' ? 'Event' : 'Dashboard', scope };
}
