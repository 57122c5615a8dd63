import { listOperationOf } from './api.ts';
import type { OperationCache } from './cache/operation-cache.ts';
import { type ListRef, pageTarget } from './pages.ts';
import type { Position } from './positions.ts';

/**
 * Chooses the number of rows that a page is asked for: the rows that are wanted, or the size of a larger page in the cache.
 */
export type SizePage = (list: ListRef, at: Position, limit: number) => number;

/** Makes the choice of page sizes by the cache; undefined without a cache. */
export function sizePageWith(cache: OperationCache | undefined): SizePage | undefined {
  if (cache === undefined) return undefined;
  return (list, at, limit) =>
    cache.pages?.sizeOf(listOperationOf(list.noun), (size) => pageTarget(list, at, size), limit) ?? limit;
}
