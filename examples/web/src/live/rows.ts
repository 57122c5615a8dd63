import type { EventRowFragment } from '../generated/graphql.ts';

/** The most events that are kept of those that came by themselves. */
export const mostKept = 500;

/** An event of the table. */
export interface Row extends EventRowFragment {
  /** True if it came by itself. */
  readonly isNew?: boolean;
}

/** Names a row among others: the same event may be told again after a loss of the connection. */
export function keyOf({ id, timestamp }: EventRowFragment): string {
  return `${id} ${timestamp}`;
}

/** Rows as one list, newest first, each once. */
export function joinRows(...lists: readonly (readonly Row[])[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const row of lists.flat()) if (!rows.has(keyOf(row))) rows.set(keyOf(row), row);
  return [...rows.values()].toSorted((one, other) => momentOf(other) - momentOf(one));
}

/** Events at the same millisecond stay in the order in which they came. */
function momentOf({ timestamp }: EventRowFragment): number {
  return timestamp === null ? 0 : Date.parse(timestamp);
}
