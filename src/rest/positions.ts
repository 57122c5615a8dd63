import { inUtc, isLater, isSameInstant, secondAfter } from './instants.ts';
import { idText, type Row } from './values.ts';

/**
 * The start of a page. Lists with a count are walked by `offset`. Events are walked by time: `before` and `after`
 * replace those of the filter, and `offset` counts from there.
 */
export interface Position {
  readonly offset: number;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** The last rows of earlier pages, if the list is walked by time. */
  readonly boundary?: Boundary | undefined;
  /**
   * True if the upstream's `next` led nowhere and no count shows the end of the list. No page can be read from here.
   */
  readonly isDeadEnd?: boolean | undefined;
}

/** The moment of the last rows of earlier pages, and their ids. Other rows of that moment may follow. */
export interface Boundary {
  readonly time: string;
  readonly ids: readonly string[];
}

/** The maximum number of ids of a boundary that a cursor holds. */
const maximumIds = 50;
/** The most bytes of these ids as JSON. */
const maximumBytes = 2000;

/**
 * The position behind `rows`, which are newest first; undefined if their times do not show it. `counted` is the same
 * position, found by counting rows.
 *
 * If `before` were the time of the last row, further rows of that time would be lost. So `before` is the next later
 * time that is known. The upstream then sends the rows of the boundary again, and they are recognized by their ids. If
 * more rows share the last time than a boundary can name, `offset` skips them.
 */
export function positionByTime(rows: readonly Row[], counted: Position): Position | undefined {
  const last = rows.at(-1)?.['timestamp'];
  const time = inUtc(last);
  const { boundary } = counted;
  if (time === undefined) return undefined;
  // These rows are newer than the boundary, so they have arrived since. `offset` skips them.
  if (isLater(last, boundary?.time)) return counted;
  const start = rows.findLastIndex(({ timestamp }) => timestamp !== last && !isSameInstant(timestamp, last)) + 1;
  const tied = rows.slice(start).map(({ id }) => idText(id));
  const before = isSameInstant(boundary?.time, last) ? (boundary?.ids ?? []) : [];
  const all = [...before.filter((id) => !tied.includes(id)), ...tied];
  const ids = lastIds(all);
  const isWhole = ids.length === all.length;
  const later = start > 0 ? rows[start - 1]?.['timestamp'] : boundary?.time;
  if (isLater(later, last)) {
    return { offset: isWhole ? 0 : all.length, before: inUtc(later), after: counted.after, boundary: { time, ids } };
  }
  if (start > 0) return undefined;
  const isAllKnown = isWhole && counted.offset <= all.length;
  return { ...counted, offset: isAllKnown ? 0 : Math.max(counted.offset, all.length), boundary: { time, ids } };
}

/**
 * The boundary at the start of a list: the next whole second after its first row. Rows with a later time must have
 * arrived after the first page was read.
 */
export function boundaryOfStart({ offset, before, after }: Position, rows: readonly Row[]): Boundary | undefined {
  const isStart = offset === 0 && (before ?? after) === undefined;
  const time = isStart ? secondAfter(rows[0]?.['timestamp']) : undefined;
  return time === undefined ? undefined : { time, ids: [] };
}

/** As many of the last ids as fit into a boundary. Ids before a row without an id are left out. */
function lastIds(ids: readonly (string | undefined)[]): readonly string[] {
  const found: string[] = [];
  let bytes = 0;
  for (const id of ids.toReversed()) {
    bytes += id === undefined ? maximumBytes : Buffer.byteLength(JSON.stringify(id));
    if (id === undefined || found.length === maximumIds || bytes > maximumBytes) break;
    found.push(id);
  }
  return found.toReversed();
}

/** The number of rows of earlier pages that the next page reads again, beside `limit` new rows. */
export function overlapOf({ offset, boundary }: Position, limit: number, maximum: number): number {
  const answered = offset === 0 ? (boundary?.ids.length ?? 0) : 0;
  return Math.max(Math.min(answered, maximum - limit), 0);
}

/** True if a row was on an earlier page, or has arrived since. */
export function isBefore({ boundary }: Position, { id, timestamp }: Row): boolean {
  if (boundary === undefined) return false;
  if (isLater(timestamp, boundary.time)) return true;
  const text = idText(id);
  return text !== undefined && boundary.ids.includes(text);
}

/** A page, and the span of time of its list. */
export interface PageRead {
  readonly at: Position;
  readonly filter: { readonly before?: string | undefined; readonly after?: string | undefined } | undefined;
  readonly rows: readonly Row[];
  readonly count: number | undefined;
}

/** The continuation of a list behind a page. */
export interface Next {
  /** Undefined at the end of the list. */
  readonly position: Position | undefined;
  /**
   * True if the upstream's `next` named no place, or a place at or before the page. `position` is then found by
   * counting rows.
   */
  readonly isBroken: boolean;
}

/**
 * The position that a `next` names: only the parameters that move through a list are read. If `next` leads to no later
 * place, the position is found by counting rows, as long as `count` says that there are more. A `next` of null, or an
 * empty page behind all counted rows, is the end.
 */
export function nextOf(next: unknown, read: PageRead): Next {
  const isEnd = next === null || next === undefined || (read.rows.length === 0 && isBehindCount(read));
  if (isEnd) return { position: undefined, isBroken: false };
  const position = typeof next === 'string' ? positionIn(next, read) : undefined;
  return position === undefined ? { position: countedOn(read), isBroken: true } : { position, isBroken: false };
}

/** True if a page starts behind the last of the `count` rows of its list; false for a list that is walked by time. */
export function isBehindCount({ at, count }: Pick<PageRead, 'at' | 'count'>): boolean {
  return count !== undefined && at.offset >= count && at.before === undefined && at.after === undefined;
}

function countedOn({ at, rows, count }: PageRead): Position | undefined {
  const offset = at.offset + rows.length;
  if (count === undefined || (rows.length === 0 && offset < count)) return { ...at, offset, isDeadEnd: true };
  return offset < count ? { ...at, offset } : undefined;
}

/** The position that a URL names, if it comes after the page. */
function positionIn(next: string, read: PageRead): Position | undefined {
  const { at, filter, rows } = read;
  const plain = filter === undefined && at.before === undefined && at.after === undefined && plainOffset.exec(next);
  if (plain) return positionBehind(Number(plain[1]), read);
  const query = queryOf(next);
  if (query === undefined) return undefined;
  const from = { before: at.before ?? filter?.before, after: at.after ?? filter?.after };
  const before = timeOf(query.get('before')) ?? from.before;
  const after = timeOf(query.get('after')) ?? from.after;
  // The newest rows come first. So a `before` later than that of this page would lead back to rows already read.
  const isSame = before === from.before || isSameInstant(before, from.before);
  if (isLater(before, from.before) || (isSame && isLater(from.after, after))) return undefined;
  // The `next` of the hosted service has a new time, but still the offset of the old one. Counted from the new time,
  // that offset would skip rows.
  if (!isSame) return positionBefore({ offset: 0, before, after }, read);
  if (after !== from.after) return { offset: 0, before, after };
  const offset = Number(query.get('offset') ?? Number.NaN);
  if (!Number.isSafeInteger(offset) || offset <= at.offset) return withinInstant(from.before, rows, at);
  return positionBehind(offset, read);
}

/** A `next` with no more than limit and offset, as all lists but events have. It need not be parsed as a URL. */
const plainOffset = /^[^?#]*\?(?:limit=\d{1,9}&)?offset=(\d{1,15})$/;

/** The position behind the rows of the page. Another offset in `next` would skip rows, or repeat them. */
function positionBehind(offset: number, { at, rows }: PageRead): Position | undefined {
  if (offset <= at.offset) return undefined;
  return { ...at, offset: rows.length > 0 ? at.offset + rows.length : offset };
}

/** The position behind a page whose `next` names another `before`. */
function positionBefore(named: Position, { at, filter, rows }: PageRead): Position {
  if (isLater(rows.at(-1)?.['timestamp'], named.before)) return named;
  const { boundary = filter?.before === undefined ? boundaryOfStart(at, rows) : undefined } = at;
  const counted = { ...at, offset: at.offset + rows.length, boundary };
  const position = positionByTime(rows, counted) ?? named;
  // An upstream that includes the moment of `before` sends the rows of that moment again. `offset` then skips them.
  const isSame = position.before === at.before && position.offset <= at.offset;
  return isSame && !isBehind(position.boundary, at.boundary) ? { ...counted, boundary: position.boundary } : position;
}

/** True if a boundary has rows that the other boundary lacks. */
function isBehind(boundary: Boundary | undefined, other: Boundary | undefined): boolean {
  if (boundary === undefined || other === undefined) return boundary !== undefined;
  return boundary.time !== other.time || boundary.ids.length > other.ids.length;
}

/**
 * The position behind a page whose rows all have the moment of `before`, because the upstream includes that moment. The
 * list cannot go on by time from there, so the rows of the page are counted. Undefined for any other page.
 */
function withinInstant(instant: string | undefined, rows: readonly Row[], at: Position): Position | undefined {
  if (rows.length === 0 || !rows.every(({ timestamp }) => isSameInstant(timestamp, instant))) return undefined;
  return { ...at, offset: at.offset + rows.length };
}

function queryOf(url: string): URLSearchParams | undefined {
  const start = url.indexOf('?');
  return start === -1 ? undefined : new URLSearchParams(url.slice(start + 1).split('#', 1)[0]);
}

/** A time from a query. Restores a plus sign that has become a blank, because the URL did not encode it. */
function timeOf(text: string | null): string | undefined {
  return text === null || text === '' ? undefined : text.replace(/ (\d\d:?\d\d)$/, '+$1');
}
