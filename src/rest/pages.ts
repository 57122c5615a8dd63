import { UpstreamError } from './errors.ts';
import { type Collection, collectionPath, target } from './paths.ts';
import { idText, isObject, naturalNumber, type Row } from './values.ts';

/** The filter of an event list as REST names it, every value as it is sent (JSON-encoded where REST wants JSON). */
export interface EventQuery {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly distinct_id?: string | undefined;
  readonly event?: string | undefined;
  readonly person_id?: string | undefined;
  readonly properties?: string | undefined;
  readonly select?: string | undefined;
  readonly where?: string | undefined;
}

/** One list: a collection and, for events, what it is narrowed to. Windows of the same list can share pages. */
export interface ListRef extends Collection {
  readonly filter?: EventQuery | undefined;
}

/**
 * Where in a list a page starts. Lists with a count are walked by `offset`; events by time, `before` and `after`
 * standing in for the filter's own.
 */
export interface Position {
  readonly offset: number;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Ids of rows at the boundary that were answered already and may come again. */
  readonly seen?: readonly string[] | undefined;
}

/** One page as REST sent it. */
export interface RestPage {
  readonly rows: readonly Row[];
  /** Rows of the whole list; undefined where REST does not count (events) or counts nonsense. */
  readonly count: number | undefined;
  /** Where the page behind this one starts; undefined at the end of the list, which `next` decides and nothing else. */
  readonly next: Position | undefined;
}

/** The list as text: equal for equal lists. Cursors are bound to it. */
export function listText(list: ListRef): string {
  return target(collectionPath(list), list.filter === undefined ? [] : filterOf(list, { offset: 0 }));
}

/** Path and query that read `limit` rows from a position. */
export function pageTarget(list: ListRef, at: Position, limit: number, format?: 'csv'): string {
  const offset = at.offset === 0 ? undefined : String(at.offset);
  const page = `${collectionPath(list)}?limit=${limit}`;
  const isPlain = list.filter === undefined && at.before === undefined && at.after === undefined;
  if (isPlain && format === undefined) return offset === undefined ? page : `${page}&offset=${offset}`;
  return target(collectionPath(list), [
    ['limit', String(limit)],
    ['offset', offset],
    ...filterOf(list, at),
    ['format', format],
  ]);
}

/** Reads a page out of the pagination envelope. */
export function toPage(body: unknown, list: ListRef, at: Position): RestPage {
  if (!isObject(body) || !Array.isArray(body['results'])) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  const results: unknown[] = body['results'];
  // A row that is no object has no columns; its id says so when it is asked for.
  const rows = results.every(isObject) ? results : results.map((row) => (isObject(row) ? row : noColumns));
  const { next } = body;
  return new LazyPage(rows, naturalNumber(body['count']), () => nextPosition(next, list, at, rows));
}

/** A page that reads its `next` only for those who ask: most pages are full, and nobody wants to know what follows. */
class LazyPage implements RestPage {
  readonly rows: readonly Row[];
  readonly count: number | undefined;
  readonly #findNext: () => Position | undefined;
  #next: { readonly position: Position | undefined } | undefined;

  constructor(rows: readonly Row[], count: number | undefined, findNext: () => Position | undefined) {
    this.rows = rows;
    this.count = count;
    this.#findNext = findNext;
  }

  get next(): Position | undefined {
    this.#next ??= { position: this.#findNext() };
    return this.#next.position;
  }
}

const noColumns: Row = {};

function filterOf({ filter = {} }: ListRef, at: Position): [string, string | undefined][] {
  return [
    ['after', at.after ?? filter.after],
    ['before', at.before ?? filter.before],
    ['distinct_id', filter.distinct_id],
    ['event', filter.event],
    ['person_id', filter.person_id],
    ['properties', filter.properties],
    ['select', filter.select],
    ['where', filter.where],
  ];
}

/**
 * The position that a `next` URL names. Only its query is read, and of that only what moves through a list; a `next`
 * that names the place where the page began, or one before it, ends the walk.
 */
function nextPosition(next: unknown, { filter }: ListRef, at: Position, rows: readonly Row[]): Position | undefined {
  if (typeof next !== 'string') return undefined;
  const plain = filter === undefined && at.before === undefined && at.after === undefined && plainOffset.exec(next);
  if (plain) return positionBehind(Number(plain[1]), at, rows);
  const query = queryOf(next);
  if (query === undefined) return undefined;
  const from = { before: at.before ?? filter?.before, after: at.after ?? filter?.after };
  const before = timeOf(query.get('before')) ?? from.before;
  const after = timeOf(query.get('after')) ?? from.after;
  // The newest rows come first, so that a later `before` would walk in a circle.
  if (isLater(before, from.before) || (before === from.before && isLater(from.after, after))) return undefined;
  const moved = before !== from.before || after !== from.after;
  // Keyset: the deployment keeps the old offset in the query, which would skip rows behind the new time.
  if (moved && rows.length > 0) return { offset: 0, before, after };
  const offset = Number(query.get('offset') ?? Number.NaN);
  if (!Number.isSafeInteger(offset) || offset <= at.offset) return withinInstant(from.before, at, rows);
  return positionBehind(offset, at, rows);
}

/** A `next` that says nothing but an offset, as every list but events answers it: not worth parsing. */
const plainOffset = /^[^?#]*\?(?:limit=\d{1,9}&)?offset=(\d{1,15})$/;

/** A page that was cut shorter than its own `next` believes must not lose the rows between. */
function positionBehind(offset: number, at: Position, rows: readonly Row[]): Position | undefined {
  if (offset <= at.offset) return undefined;
  const { before, after } = at;
  return { before, after, offset: rows.length > 0 ? Math.min(offset, at.offset + rows.length) : offset };
}

/**
 * Where a list goes on whose `before` includes that instant: a page that holds nothing else cannot move on by time, so
 * it is counted through. Rows that come again although they were counted show that the upstream heeds no offset.
 */
function withinInstant(instant: string | undefined, at: Position, rows: readonly Row[]): Position | undefined {
  if (instant === undefined || rows.length === 0) return undefined;
  if (!rows.every(({ timestamp }) => timestamp === instant)) return undefined;
  const offset = at.offset + rows.length;
  const seen = at.seen ?? [];
  const isNew = rows.some(({ id }) => !seen.includes(idText(id) ?? ''));
  return isNew || offset <= seen.length ? { ...at, offset } : undefined;
}

function queryOf(url: string): URLSearchParams | undefined {
  const start = url.indexOf('?');
  return start === -1 ? undefined : new URLSearchParams(url.slice(start + 1).split('#', 1)[0]);
}

/** Whether one time comes after another, to the millisecond; false where one of them is none. */
function isLater(time: string | undefined, other: string | undefined): boolean {
  return instantOf(time) > instantOf(other);
}

/** Times without a zone are UTC, as everywhere in this API. */
function instantOf(time = ''): number {
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(time) ? time : `${time}Z`);
}

/** A time from a query in which the plus of its offset may have been left unencoded. */
function timeOf(text: string | null): string | undefined {
  return text === null || text === '' ? undefined : text.replace(/ (\d\d:?\d\d)$/, '+$1');
}
