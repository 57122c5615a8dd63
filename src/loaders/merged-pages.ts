import { type ListRef, listText } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';

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
