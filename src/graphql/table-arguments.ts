import type { CursorCodec } from '../context.ts';
import type { ListRef } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import { pageSizeOf } from './connections.ts';

/** The arguments of a table: forward only. */
export interface TableArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** The part of a table that is read. */
export interface TableWindow {
  readonly at: Position;
  /** From 1: upstreams take a limit of 0 for their default. */
  readonly limit: number;
}

/** The window that the arguments of a table ask for. A bad `first` or a foreign cursor is a UserInputError. */
export function tableWindowOf(
  list: ListRef,
  { first, after }: TableArguments,
  { cursors, maxPageSize }: { readonly cursors: CursorCodec; readonly maxPageSize: number },
): TableWindow {
  const limit = tableSizeOf(first, maxPageSize);
  const at = after === null || after === undefined ? { offset: 0 } : cursors.decode(list, after, 'after');
  return { at, limit };
}

/** The number of rows that `first` asks for. */
export function tableSizeOf(first: number | null | undefined, maxPageSize: number): number {
  return pageSizeOf('first', first, maxPageSize, 1);
}
