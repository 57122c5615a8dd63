import { readCsv } from './csv.ts';
import { UpstreamError } from './errors.ts';
import { secondAfter } from './instants.ts';
import type { ListRef } from './pages.ts';
import type { Position } from './positions.ts';
import { isObject } from './values.ts';

/** A page of a list whose rows need have neither ids nor times: as CSV, or as `select` gives them. */
export interface TablePage<Content> {
  readonly content: Content;
  /** The continuation of the list behind the page, with its rows counted; undefined if there is none. */
  readonly end: Position | undefined;
  readonly hasNext: boolean;
}

/** The start of a page of a table: by offset, and before a moment if one is known. */
type At = Pick<Position, 'offset' | 'before'>;

/**
 * The page of a JSON answer. `next` says whether the list goes on, but not where: if it names the time of the last
 * row, others of that time would be lost. Fails if the list goes on behind no row at all.
 */
export function toRowsPage(body: unknown, at: At): TablePage<readonly unknown[]> {
  if (!isObject(body) || !Array.isArray(body['results'])) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  const content: readonly unknown[] = body['results'];
  const { next = null } = body;
  if (content.length === 0 && next !== null) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return { content, end: behind(at, content.length), hasNext: next !== null };
}

/**
 * The page of a CSV answer, which does not say whether its list goes on: an upstream may answer fewer rows than it was
 * asked for, so only an empty page is known to be the end. Plain events come newest first: the pages behind the first
 * end before the second after its newest row, so that events captured since then move no row to another page.
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
