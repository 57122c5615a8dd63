import { type ListRef, listText } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';

/** A wanted range of a list: `limit` rows from a position, or only the count of the whole list. */
export interface Window {
  readonly list: ListRef;
  readonly at: Position;
  readonly limit: number;
  readonly countOnly?: boolean;
  /** True if the rows of one call will do if the upstream caps its pages. */
  readonly onePage?: boolean;
}

/** True if two windows are the same one of a list without a filter, from its own offset. */
export function isEqual(one: Window, other: Window): boolean {
  const { list, at, limit, countOnly, onePage } = one;
  if (limit !== other.limit || countOnly !== other.countOnly || onePage !== other.onePage) return false;
  if (!isPlain(at) || !isPlain(other.at) || at.offset !== other.at.offset) return false;
  const isSameList = list.noun === other.list.noun && list.scope === other.list.scope;
  return isSameList && list.filter === undefined && other.list.filter === undefined;
}

/**
 * Equal for windows that can share pages: they have the same filter and begin at the same instant. If rows may be left
 * out because they were answered before, offsets do not count the rows of a page, and only equal windows share.
 */
export function baseText({ list, at }: Window): string {
  if (isPlain(at)) return listText(list);
  const { before = '', after = '', boundary, isStuck = false } = at;
  if (boundary === undefined && !isStuck) return `${listText(list)} ${before} ${after}`;
  return `${listText(list)} ${JSON.stringify(at)}`;
}

/** True if a position is an offset alone. */
function isPlain({ before, after, boundary, isStuck }: Position): boolean {
  return before === undefined && after === undefined && boundary === undefined && isStuck === undefined;
}
