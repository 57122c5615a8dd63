import type { GatewayContext } from '../context.ts';
import { hasRowsBefore, type ListPage, slicePage } from '../loaders/list-pages.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { ListRef } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import { UserInputError } from './input-error.ts';

/** A page of a list, as the parent of a connection's resolvers. */
export interface ConnectionSource {
  readonly list: ListRef;
  readonly page: ListPage;
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  /** True if the rows of the page hold ids and no other columns. Each object is then read by its key. */
  readonly hasOnlyIds?: boolean;
}

/** One row of a page. */
export interface EdgeSource {
  readonly source: ConnectionSource;
  readonly index: number;
}

/** The arguments of a connection, as Relay names them. */
export interface ConnectionArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** A range of a list: `limit` rows from `offset` on, or the last `limit` rows, but none before the offset `from`. */
export type ListRange =
  | { readonly kind: 'window'; readonly offset: number; readonly limit: number }
  | { readonly kind: 'end'; readonly from: number; readonly limit: number };

const defaultPageSize = 50;

/** The number of rows that `first` or `last` asks for. */
export function pageSizeOf(
  argument: 'first' | 'last',
  value: number | null | undefined,
  maximum: number,
  minimum = 0,
): number {
  const size = value ?? Math.min(defaultPageSize, maximum);
  if (size >= minimum && size <= maximum) return size;
  throw new UserInputError(`Expected \`${argument}\` to be from ${minimum} to ${maximum}, but got ${size}.`);
}

/** The range that connection arguments ask for, as the Relay cursor connections specification §4.4 defines it. */
export function rangeOf(
  { first, after, last, before }: ConnectionArguments,
  offsetBehind: (argument: 'after' | 'before', cursor: string) => number,
  maximum: number,
): ListRange {
  if (isGiven(first) && isGiven(last)) {
    throw new UserInputError('Expected either `first` or `last`, but got both.');
  }
  const limit = isGiven(last) ? pageSizeOf('last', last, maximum) : pageSizeOf('first', first, maximum);
  const start = isGiven(after) ? offsetBehind('after', after) : 0;
  const end = isGiven(before) ? offsetBehind('before', before) - 1 : Number.POSITIVE_INFINITY;
  if (!isGiven(last)) return { kind: 'window', offset: start, limit: clamp(limit, end - start) };
  if (end === Number.POSITIVE_INFINITY) return { kind: 'end', from: start, limit };
  const offset = Math.max(start, end - limit);
  return { kind: 'window', offset, limit: clamp(limit, end - offset) };
}

/** The part of a connection that a selection wants. */
export type Wanted =
  // Nothing of the page.
  | 'count'
  // The rows of the page, but not `pageInfo`.
  | 'rows'
  | 'page';

/** Converts a requested range to the range to read: any page if no row is wanted, otherwise at least one row. */
export function rangeToRead(range: ListRange, wanted: Wanted): ListRange | { readonly kind: 'any' } {
  if (wanted === 'count' || (range.limit === 0 && wanted === 'rows')) return { kind: 'any' };
  if (range.kind === 'end' && range.limit > 0) return range;
  const offset = range.kind === 'window' ? range.offset : range.from;
  // An empty range is read as well: the answer says whether the list continues behind it.
  return { kind: 'window', offset, limit: Math.max(range.limit, 1) };
}

/** A connection over a list that is walked by offset. `plan/connection-plans.ts` predicts its reads. */
export function fetchConnection(
  { loaders: { windows }, cursors, maxPageSize }: GatewayContext,
  list: ListRef,
  args: ConnectionArguments,
  wanted: Wanted,
): Promise<ConnectionSource> {
  const offsetBehind = (argument: 'after' | 'before', cursor: string): number => {
    const { offset, isDeadEnd } = cursors.decode(list, cursor, argument);
    if (isDeadEnd === true && argument === 'after') throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
    return offset;
  };
  const range = rangeOf(args, offsetBehind, maxPageSize);
  const toRead = rangeToRead(range, wanted);
  switch (toRead.kind) {
    case 'any':
      return windows
        .load({ list, at: start, limit: 1, countOnly: true })
        .then((page) => emptySource(list, page, range.kind));
    case 'end':
      return windows.loadEnd(list, toRead.from, toRead.limit).then((page) => new PageSource(list, page));
    case 'window':
      return windows
        .load({ list, at: { offset: toRead.offset }, limit: toRead.limit })
        .then((page) => (range.limit === 0 ? emptySource(list, page, range.kind) : new PageSource(list, page)));
  }
}

/** A connection over objects whose ids are known: its counts, cursors and `pageInfo` cost no call. */
export function connectionOfIds(
  { cursors, maxPageSize }: Pick<GatewayContext, 'cursors' | 'maxPageSize'>,
  list: ListRef,
  ids: readonly string[],
  args: ConnectionArguments,
): ConnectionSource {
  const offsetBehind = (argument: 'after' | 'before', cursor: string): number =>
    cursors.decode(list, cursor, argument).offset;
  const range = rangeOf(args, offsetBehind, maxPageSize);
  const isEnd = range.kind === 'end';
  const offset = isEnd ? Math.max(range.from, ids.length - range.limit) : range.offset;
  const end = offset + range.limit;
  const rows = ids.slice(offset, end).map((id) => ({ id }));
  const next = end < ids.length ? { offset: end } : undefined;
  const page = { rows, segments: [{ from: 0, at: { offset } }], next, count: ids.length };
  return { list, page, hasNext: !isEnd && next !== undefined, hasPrevious: offset > 0, hasOnlyIds: true };
}

/** A connection over events, which are walked forward and by time. */
export function fetchEvents(
  { loaders: { windows }, cursors, maxPageSize }: GatewayContext,
  list: ListRef,
  { first, after }: ConnectionArguments,
  wanted: Wanted,
): Promise<ConnectionSource> {
  const limit = pageSizeOf('first', first, maxPageSize);
  const at = isGiven(after) ? cursors.decode(list, after, 'after') : start;
  const countOnly = rangeToRead({ kind: 'window', offset: 0, limit }, wanted).kind === 'any';
  return windows
    .load({ list, at, limit: Math.max(limit, 1), countOnly })
    .then((page) => (limit === 0 || countOnly ? emptySource(list, page, 'window') : new PageSource(list, page)));
}

/** The window that the arguments of a table ask for. A bad `first` or a foreign cursor is a UserInputError. */
export function tableWindowOf(
  list: ListRef,
  { first, after }: ConnectionArguments,
  { cursors, maxPageSize }: Pick<GatewayContext, 'cursors' | 'maxPageSize'>,
): { readonly at: Position; readonly limit: number } {
  return { at: isGiven(after) ? cursors.decode(list, after, 'after') : start, limit: tableSizeOf(first, maxPageSize) };
}

/** The number of rows of a table that `first` asks for, at least 1: upstreams use a default for a limit of 0. */
export function tableSizeOf(first: number | null | undefined, maxPageSize: number): number {
  return pageSizeOf('first', first, maxPageSize, 1);
}

const start: Position = { offset: 0 };

/** A page whose `pageInfo` is computed when it is read. */
class PageSource implements ConnectionSource {
  readonly list: ListRef;
  readonly page: ListPage;

  constructor(list: ListRef, page: ListPage) {
    this.list = list;
    this.page = page;
  }

  get hasNext(): boolean {
    return this.page.next !== undefined;
  }

  get hasPrevious(): boolean {
    return hasRowsBefore(this.page);
  }
}

/** A page without rows, for `first: 0` and `last: 0`. `probe` is a page of one row, read to see if the list goes on. */
function emptySource(list: ListRef, probe: ListPage, kind: ListRange['kind']): ConnectionSource {
  const found = probe.rows.length > 0;
  const before = hasRowsBefore(probe);
  const { rows, segments, count } = slicePage(probe, 0, 0);
  const page = { rows, segments, count, next: undefined };
  return { list, page, hasNext: found && kind === 'window', hasPrevious: before || (found && kind === 'end') };
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

function clamp(limit: number, available: number): number {
  return Math.max(Math.min(limit, available), 0);
}
