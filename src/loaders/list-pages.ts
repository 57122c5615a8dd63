import { type ListRef, listText, type Segment } from '../rest/pages.ts';
import { boundaryOfStart, type Position, positionByTime } from '../rest/positions.ts';
import { idText, type Row } from '../rest/values.ts';

/** A range of a list, from one REST page or several. */
export interface ListPage {
  readonly rows: readonly Row[];
  /** At least one. The only segment of an empty page has the position of the page. */
  readonly segments: readonly Segment[];
  /** The position behind the last row; undefined at the end of the list. */
  readonly next: Position | undefined;
  readonly count: number | undefined;
}

/** The position of row `index` in its list. */
export function positionOf(page: ListPage, index: number): Position {
  const segment = page.segments.findLast(({ from }) => from <= index) ?? { from: 0, at: { offset: 0 } };
  return { ...segment.at, offset: segment.at.offset + index - segment.from };
}

/** The position behind row `index`, by time if the list is read by time. */
export function positionAfter(page: ListPage, index: number): Position {
  const { rows, next } = page;
  if (index === rows.length - 1 && next !== undefined) return next;
  return (isWalkedByTime(page) ? positionInTime(page, index) : undefined) ?? countedBehind(page, index);
}

/** True if there are rows before the page. */
export function hasRowsBefore(page: ListPage): boolean {
  const { offset, before, after, boundary } = positionOf(page, 0);
  return offset > 0 || before !== undefined || after !== undefined || boundary !== undefined;
}

/** The part of a page from row `from` on, at most `limit` rows. */
export function slicePage(page: ListPage, from: number, limit: number): ListPage {
  if (from === 0 && limit >= page.rows.length) return page;
  const rows = page.rows.slice(from, from + limit);
  const end = from + rows.length;
  const first = { from: 0, at: positionOf(page, from) };
  const later = page.segments.filter((segment) => segment.from > from && segment.from < end);
  const segments = [first, ...later.map((segment) => ({ from: segment.from - from, at: segment.at }))];
  const next = end < page.rows.length ? nextBehind(page, end) : page.next;
  return { rows, segments, next, count: page.count };
}

/** The last `limit` rows of a page. */
export function lastRowsOf(page: ListPage, limit: number): ListPage {
  return slicePage(page, Math.max(page.rows.length - limit, 0), limit);
}

/** Joins two successive pages of a list. Rows of the second page that the first one has are left out. */
export function joinPages(first: ListPage, second: ListPage): ListPage {
  const seen = new Set(first.rows.map(({ id }) => idText(id)));
  const rows = [...first.rows];
  const segments = [...first.segments];
  let contiguous = false;
  second.rows.forEach((row, index) => {
    const id = idText(row['id']);
    if (id !== undefined && seen.has(id)) {
      contiguous = false;
      return;
    }
    if (!contiguous) segments.push({ from: rows.length, at: positionOf(second, index) });
    contiguous = true;
    rows.push(row);
  });
  return { rows, segments, next: second.next, count: second.count ?? first.count };
}

function nextBehind(page: ListPage, end: number): Position {
  return (isWalkedByTime(page) && end > 0 ? positionInTime(page, end - 1) : undefined) ?? positionOf(page, end);
}

/** True if the list is walked by time, or if it is unknown how, as on the last page of a list without a count. */
function isWalkedByTime({ next, count }: ListPage): boolean {
  return next === undefined ? count === undefined : next.boundary !== undefined;
}

/** The position behind row `index` by time; undefined if its rows have no time. */
function positionInTime(page: ListPage, index: number): Position | undefined {
  const { rows } = page;
  const counted = countedBehind(page, index);
  const boundary = counted.boundary ?? boundaryOfStart(positionOf(page, 0), rows);
  return positionByTime(rows.slice(0, index + 1), { ...counted, boundary });
}

function countedBehind(page: ListPage, index: number): Position {
  const at = positionOf(page, index);
  return { ...at, offset: at.offset + 1 };
}

/** A wanted range of a list: `limit` rows from a position, or only the count of the whole list. */
export interface Window {
  readonly list: ListRef;
  readonly at: Position;
  readonly limit: number;
  readonly countOnly?: boolean;
  /** True if the rows of one call are enough, even if the upstream caps its pages. */
  readonly onePage?: boolean;
}

/** True if two windows are equal, without filters, and at the same offset. */
export function isEqualWindow(one: Window, other: Window): boolean {
  const { list, at, limit, countOnly, onePage } = one;
  if (limit !== other.limit || countOnly !== other.countOnly || onePage !== other.onePage) return false;
  if (!isPlain(at) || !isPlain(other.at) || at.offset !== other.at.offset) return false;
  const isSameList = list.noun === other.list.noun && list.scope === other.list.scope;
  return isSameList && list.filter === undefined && other.list.filter === undefined;
}

/**
 * A text that is equal for windows that can share pages. These are windows with the same filter and the same `before`
 * and `after`. A page from a position with a boundary leaves out rows that were answered before, so offsets do not show
 * which rows it has. Windows from such positions share a page only if the positions are equal.
 */
export function mergeKeyOf({ list, at }: Window): string {
  if (isPlain(at)) return listText(list);
  const { before = '', after = '', boundary, isDeadEnd = false } = at;
  if (boundary === undefined && !isDeadEnd) return `${listText(list)} ${before} ${after}`;
  return `${listText(list)} ${JSON.stringify(at)}`;
}

/** True if a position is an offset alone. */
function isPlain({ before, after, boundary, isDeadEnd }: Position): boolean {
  return before === undefined && after === undefined && boundary === undefined && isDeadEnd === undefined;
}

/** A range of a list by offset: rows `offset` to `offset + limit - 1`. */
export interface MergedPage {
  readonly offset: number;
  readonly limit: number;
}

/**
 * The fewest pages of at most `maximum` rows, such that each wanted window lies within one page. If only the count is
 * wanted, one row is read.
 */
export function mergedPagesOf(windows: readonly Omit<Window, 'list'>[], maximum: number): MergedPage[] {
  const [only] = windows;
  if (windows.length === 1 && only !== undefined && only.countOnly !== true)
    return [{ offset: only.at.offset, limit: only.limit }];
  const wanted = windows.filter(({ countOnly }) => countOnly !== true);
  if (wanted.length === 0) return windows.length === 0 ? [] : [{ offset: 0, limit: 1 }];
  const sorted = wanted.toSorted((a, b) => a.at.offset - b.at.offset || b.limit - a.limit);
  const pages: { offset: number; limit: number }[] = [];
  for (const { at, limit } of sorted) {
    const page = pages.at(-1);
    const end = at.offset + limit;
    if (page !== undefined && end <= page.offset + maximum) page.limit = Math.max(page.limit, end - page.offset);
    else pages.push({ offset: at.offset, limit });
  }
  return pages;
}

/** The number of rows of a merged page that must be read, even if that takes several calls. */
export function requiredRowsOf({ offset, limit }: MergedPage, windows: readonly Omit<Window, 'list'>[]): number {
  let required = 0;
  for (const { at, limit: rows, countOnly, onePage } of windows) {
    const end = at.offset + rows - offset;
    const isWithin = at.offset >= offset && end <= limit;
    if (isWithin && countOnly !== true && onePage !== true) required = Math.max(required, end);
  }
  return required;
}
