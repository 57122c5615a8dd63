import type { Segment } from '../rest/pages.ts';
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
