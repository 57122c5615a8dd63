import { hash } from 'node:crypto';
import { memoize } from '../memoize.ts';
import { readCsv } from './csv.ts';
import { UpstreamError } from './errors.ts';
import { secondAfter } from './instants.ts';
import { type Collection, collectionPath, target } from './paths.ts';
import { isBefore, type Next, nextOf, type Position } from './positions.ts';
import { idText, isObject, naturalNumber, type Row } from './values.ts';

/** The filter of an event list, with REST's names and encoding: some values are JSON. */
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

/** One list: a collection and, for events, its filter. Windows of the same list can share pages. */
export interface ListRef extends Collection {
  readonly filter?: EventQuery | undefined;
  /** The form of pages that are no RestPage. A cursor of one form is not valid in another. */
  readonly form?: 'csv' | 'rows' | 'tail' | undefined;
}

/** A short text, equal for equal lists, to which cursors are bound. */
export function listText({ noun, scope, filter, form }: ListRef): string {
  const path = collectionPath({ noun, scope });
  const text = filter === undefined ? path : path + filterText(filter);
  return form === undefined ? text : `${text} ${form}`;
}

/** The longest filter that is not hashed, in characters. The text of a list is signed for each cursor. */
const longestFilter = 500;

const filterText = memoize((filter: EventQuery) => {
  const text = target('', filterOf({ filter }, { offset: 0 }));
  return text.length <= longestFilter ? text : `?${hash('sha256', text, 'base64url')}`;
});

/** Path and query that read `limit` rows from a position. */
export function pageTarget(list: ListRef, at: Position, limit: number): string {
  const offset = at.offset === 0 ? undefined : String(at.offset);
  const page = `${collectionPath(list)}?limit=${limit}`;
  const isPlain = list.filter === undefined && at.before === undefined && at.after === undefined;
  if (isPlain && list.form !== 'csv') return offset === undefined ? page : `${page}&offset=${offset}`;
  return target(collectionPath(list), [
    ['limit', String(limit)],
    ['offset', offset],
    ...filterOf(list, at),
    ['format', list.form === 'csv' ? 'csv' : undefined],
  ]);
}

/**
 * Rows of a page that stand next to each other in their list. The first has the index `from` in the page, and the
 * position `at` in the list.
 */
export interface Segment {
  readonly from: number;
  readonly at: Position;
}

/** One REST page as a range of its list, without the rows that were answered before. */
export class RestPage {
  readonly rows: readonly Row[];
  /** At least one. The only segment of an empty page has the position of the page. */
  readonly segments: readonly Segment[];
  /** The rows of the whole list; undefined if REST does not count them (events) or sends nonsense. */
  readonly count: number | undefined;
  /** The position that was asked for. */
  readonly at: Position;
  readonly #list: ListRef;
  readonly #limit: number;
  /** All rows that REST sent. */
  readonly #sent: readonly Row[];
  readonly #link: unknown;
  #known: Next | undefined;

  /** Reads the page of `limit` rows out of the pagination envelope. */
  constructor(body: unknown, list: ListRef, at: Position, limit: number) {
    if (!isObject(body) || !Array.isArray(body['results'])) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
    const results: unknown[] = body['results'];
    // A row that is not an object has no columns. It fails when its id is asked for.
    const sent = results.every(isObject) ? results : results.map((row) => (isObject(row) ? row : noColumns));
    this.#sent = sent;
    this.#link = body['next'];
    this.count = naturalNumber(body['count']);
    this.at = at;
    this.#list = list;
    this.#limit = limit;
    if (at.boundary === undefined) {
      this.rows = sent;
      this.segments = [{ from: 0, at }];
    } else {
      const kept = sent.map((row, index) => ({ row, index })).filter(({ row }) => !isBefore(at, row));
      this.rows = kept.map(({ row }) => row);
      const segments = kept.map(({ index }, from) => ({ from, at: { ...at, offset: at.offset + index } }));
      this.segments = segments.length === 0 ? [{ from: 0, at }] : segments;
    }
  }

  /** The start of the next page; undefined at the end of the list. The number of rows does not show where that is. */
  get next(): Position | undefined {
    return this.#next.position;
  }

  /** True if the upstream's link leads to no later place. The position in `next` is then found by counting rows. */
  get isNextBroken(): boolean {
    return this.#next.isBroken;
  }

  /** True if the upstream answered fewer rows than it was asked for, and has more. */
  get isCapped(): boolean {
    return this.#sent.length < this.#limit && this.next !== undefined;
  }

  /** The ids of all rows that REST sent. */
  get ids(): readonly (string | undefined)[] {
    return this.#sent.map(({ id }) => idText(id));
  }

  /** Parsed only if it is asked for: in most cases, no further page of the list is read. */
  get #next(): Next {
    const { at, count } = this;
    this.#known ??= nextOf(this.#link, { at, filter: this.#list.filter, rows: this.#sent, count });
    return this.#known;
  }
}

const noColumns: Row = {};

function filterOf({ filter = {} }: Pick<ListRef, 'filter'>, at: Position): [string, string | undefined][] {
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

/** A page as CSV, or as the result of `select`. Its rows may have neither ids nor times. */
export interface TablePage<Content> {
  readonly content: Content;
  /** Found by counting rows; undefined at the end of the list. */
  readonly end: Position | undefined;
  readonly hasNext: boolean;
}

/**
 * Reads a page of a `select`. The page says by `next` whether the list goes on, but `next` is not followed: it may
 * continue after the time of the last row, and so skip other rows of that time. Throws if the list goes on after a page
 * without rows.
 */
export function toRowsPage(body: unknown, at: Position): TablePage<readonly unknown[]> {
  if (!isObject(body) || !Array.isArray(body['results'])) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  const content: readonly unknown[] = body['results'];
  const { next = null } = body;
  if (content.length === 0 && next !== null) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return { content, end: behind(at, content.length), hasNext: next !== null };
}

/**
 * Reads a page of CSV. Only an empty page is the end, because an upstream may send fewer rows than were asked for.
 * Plain events come newest first. All pages but the first are read with a `before`: the first whole second after the
 * newest row. So events that arrive meanwhile move no row to another page.
 */
export function toCsvPage(text: string, { filter }: ListRef, at: Position): TablePage<string> {
  const { rows, firstCell } = readCsv(text);
  const isBound = (at.before ?? filter?.before ?? filter?.select) !== undefined || at.offset > 0;
  const before = isBound ? at.before : secondAfter(firstCell('timestamp'));
  return { content: text, end: behind({ offset: at.offset, before }, rows), hasNext: rows > 0 };
}

function behind({ offset, before }: Position, rows: number): Position | undefined {
  return rows === 0 ? undefined : { offset: offset + rows, before };
}

/**
 * The answer with `next` and `previous` cut down to queries, such as `?limit=10&offset=10`: hosts may be internal, and
 * paths mean nothing at the gateway. An answer that is no page stays unchanged.
 */
export function withoutHosts(body: unknown): unknown {
  if (!isObject(body) || !Array.isArray(body['results'])) return body;
  const links = ['next', 'previous'].filter((name) => typeof body[name] === 'string');
  if (links.length === 0) return body;
  return { ...body, ...Object.fromEntries(links.map((name) => [name, queryOf(String(body[name]))])) };
}

/** The query that `withoutHosts` left in `next`; undefined at the end, or if the query cannot stand in a URL. */
export function nextQueryOf(body: unknown): string | undefined {
  const next = isObject(body) && Array.isArray(body['results']) ? body['next'] : undefined;
  return typeof next === 'string' && /^\?[!-~]{1,1000}$/.test(next) ? next : undefined;
}

function queryOf(link: string): string | null {
  const query = /\?[^#]+/.exec(link)?.[0];
  return query === undefined || query.includes('//') ? null : query;
}
