import { inUtc, isLater, isSameInstant, secondAfter } from './instants.ts';
import { idText, type Row } from './values.ts';

/**
 * The start of a page in a list. Lists with a count are walked by `offset`. Events are walked by time: `before` and
 * `after` replace the filter's own, and `offset` counts from there.
 */
export interface Position {
  readonly offset: number;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** In a list that is walked by time, the last rows that were answered. */
  readonly boundary?: Boundary | undefined;
  /** True if the upstream's `next` led nowhere and no count shows the end of the list. No page can be read from here. */
  readonly isStuck?: boolean | undefined;
}

/** The last moment whose rows were answered, and the ids of these rows: others of the same moment may follow. */
export interface Boundary {
  readonly time: string;
  readonly ids: readonly string[];
}

/** The most ids of a boundary that a cursor holds, and their most bytes as JSON. */
const maximumIds = 50;
const maximumBytes = 2000;

/**
 * The position behind the last of `rows`, which are newest first; undefined if their times do not say. `counted` is
 * the same place by offset.
 *
 * An upstream that goes on before the last row's time would lose the rows that share it. So the list goes on before the
 * moment next to it, and the rows of the boundary come again: their ids say which they are, whatever has arrived since. If
 * more rows share the moment than a boundary names, they are counted.
 */
export function positionByTime(rows: readonly Row[], counted: Position): Position | undefined {
  const last = rows.at(-1)?.['timestamp'];
  const time = inUtc(last);
  const { boundary } = counted;
  if (time === undefined) return undefined;
  // These rows have arrived since, before the rows that were answered.
  if (isLater(last, boundary?.time)) return counted;
  const start = rows.findLastIndex(({ timestamp }) => timestamp !== last && !isSameInstant(timestamp, last)) + 1;
  const tied = rows.slice(start).map(({ id }) => idText(id));
  const before = isSameInstant(boundary?.time, last) ? (boundary?.ids ?? []) : [];
  const all = [...before.filter((id) => !tied.includes(id)), ...tied];
  const ids = lastIds(all);
  const isWhole = ids.length === all.length;
  const later = start > 0 ? rows[start - 1]?.['timestamp'] : boundary?.time;
  if (isLater(later, last)) {
    return { offset: isWhole ? 0 : all.length, before: inUtc(later), after: counted.after, boundary: { time, ids } };
  }
  if (start > 0) return undefined;
  const isAllKnown = isWhole && counted.offset <= all.length;
  return { ...counted, offset: isAllKnown ? 0 : Math.max(counted.offset, all.length), boundary: { time, ids } };
}

/** The boundary at the start of a list. No row there is later than the first one: later ones have arrived since. */
export function boundaryOfStart({ offset, before, after }: Position, rows: readonly Row[]): Boundary | undefined {
  const isStart = offset === 0 && (before ?? after) === undefined;
  const time = isStart ? secondAfter(rows[0]?.['timestamp']) : undefined;
  return time === undefined ? undefined : { time, ids: [] };
}

/** The last ids that fit into a boundary, up to a row without an id. */
function lastIds(ids: readonly (string | undefined)[]): readonly string[] {
  const found: string[] = [];
  let bytes = 0;
  for (const id of ids.toReversed()) {
    bytes += id === undefined ? maximumBytes : Buffer.byteLength(JSON.stringify(id));
    if (id === undefined || found.length === maximumIds || bytes > maximumBytes) break;
    found.push(id);
  }
  return found.toReversed();
}

/** The number of answered rows that a page reads again, beside `limit` new rows. */
export function overlapOf({ offset, boundary }: Position, limit: number, maximum: number): number {
  const answered = offset === 0 ? (boundary?.ids.length ?? 0) : 0;
  return Math.max(Math.min(answered, maximum - limit), 0);
}

/** True if a row was answered before the position. */
export function isBefore({ boundary }: Position, { id, timestamp }: Row): boolean {
  if (boundary === undefined) return false;
  if (isLater(timestamp, boundary.time)) return true;
  const text = idText(id);
  return text !== undefined && boundary.ids.includes(text);
}
