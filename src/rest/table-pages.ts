import { readCsv } from './csv.ts';
import { UpstreamError } from './errors.ts';
import { secondAfter } from './instants.ts';
import type { ListRef } from './pages.ts';
import type { Position } from './positions.ts';
import { isObject } from './values.ts';

/** A page of a list as CSV or as the result of `select`. Its rows need neither ids nor times. */
export interface TablePage<Content> {
  readonly content: Content;
  /** The position behind the page, found by counting its rows; undefined at the end of the list. */
  readonly end: Position | undefined;
  readonly hasNext: boolean;
}

/** The start of a page of a table: by offset, and before a moment if one is known. */
type At = Pick<Position, 'offset' | 'before'>;

/**
 * The page of a JSON answer. `next` shows if the list goes on, but not where: if it names the time of the last row,
 * other rows of that time would be lost. Throws if the list goes on behind a page without rows.
 */
export function toRowsPage(body: unknown, at: At): TablePage<readonly unknown[]> {
  if (!isObject(body) || !Array.isArray(body['results'])) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  const content: readonly unknown[] = body['results'];
  const { next = null } = body;
  if (content.length === 0 && next !== null) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return { content, end: behind(at, content.length), hasNext: next !== null };
}

/**
 * The page of a CSV answer. An answer does not show if its list goes on, and an upstream may send fewer rows than asked
 * for, so only an empty page is the end. Plain events come newest first. The pages behind the first end before the
 * second after its newest row, so that later events move no row to another page.
 */
export function toCsvPage(text: string, { filter }: ListRef, at: At): TablePage<string> {
  const { rows, firstCell } = readCsv(text);
  const isBound = (at.before ?? filter?.before ?? filter?.select) !== undefined || at.offset > 0;
  const before = isBound ? at.before : secondAfter(firstCell('timestamp'));
  return { content: text, end: behind({ offset: at.offset, before }, rows), hasNext: rows > 0 };
}

function behind({ offset, before }: At, rows: number): Position | undefined {
  return rows === 0 ? undefined : { offset: offset + rows, before };
}
