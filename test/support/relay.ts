import type { Page } from './connections.ts';

/** Connection arguments whose cursors are the index of a row. */
export interface IndexedArguments {
  readonly first?: number;
  readonly last?: number;
  readonly after?: number;
  readonly before?: number;
}

/**
 * The Relay cursor connections specification §4.4 on an array of ids, as literally as it reads. If it leaves
 * `hasNextPage` and `hasPreviousPage` to what a server can tell, they say whether the list has rows on that side.
 * `cursors` holds the cursor of each row.
 */
export function relayPage(ids: readonly string[], cursors: readonly string[], args: IndexedArguments): Page {
  const { first, last, after = -1, before = ids.length } = args;
  let edges = ids.map((_id, index) => index).filter((index) => index > after && index < before);
  if (first !== undefined) edges = edges.slice(0, first);
  if (last !== undefined) edges = last === 0 ? [] : edges.slice(-last);
  const [start] = edges;
  // An empty page stands where the rows would have been.
  const empty = last === undefined ? after + 1 : Math.max(after + 1, before);
  const [from, to] = [start ?? empty, (edges.at(-1) ?? empty - 1) + 1];
  const cursorOf = (index: number | undefined): string | null =>
    index === undefined ? null : (cursors[index] ?? null);
  return {
    rows: edges.map((index) => ids[index] ?? ''),
    cursors: edges.map((index) => cursors[index] ?? ''),
    hasNextPage: to < ids.length,
    hasPreviousPage: from > 0,
    startCursor: cursorOf(start),
    endCursor: cursorOf(edges.at(-1)),
    totalCount: ids.length,
  };
}
