import { listOperationOf } from './api.ts';
import type { OperationCache } from './cache/operation-cache.ts';
import { type ListRef, pageTarget } from './pages.ts';
import type { Position } from './positions.ts';

/** With how many rows a page is asked for: as many as are wanted, or as many as a page has that the cache knows. */
export type SizePage = (list: ListRef, at: Position, limit: number) => number;

/** Asks for pages in the sizes that the cache has; undefined without one. */
export function sizePageWith(cache: OperationCache | undefined): SizePage | undefined {
  if (cache === undefined) return undefined;
  return (list, at, limit) =>
    cache.pages?.sizeOf(listOperationOf(list.noun), (size) => pageTarget(list, at, size), limit) ?? limit;
}
