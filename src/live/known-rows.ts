import { hash } from 'node:crypto';
import { memoize } from '../memoize.ts';
import { secondsBefore, sortableMoment } from '../rest/instants.ts';
import type { Position } from '../rest/positions.ts';
import { idText, type Row } from '../rest/values.ts';
import type { NewestRows } from './walk.ts';

/** The most seconds by which a row may come late and still be sent. It then follows rows with later timestamps. */
const lateness = 60;

/** The maximum number of known rows, more than usually come in a minute. The earliest are forgotten first. */
const mostKnown = 20_000;

/**
 * The largest number of rows that a position names by their marks. A subscription that continues at the position does
 * not resend these rows. A cursor of four kilobytes has room for this number of marks.
 */
const mostNamed = 250;

/** The length of a mark, the short hash of an id. With 250 marks, one in 10^12 other ids is taken for a known one. */
const markLength = 8;

/** The rows of a poll that are new. */
export interface NewRows {
  /** Oldest first. */
  readonly rows: readonly Row[];
  /** True if more rows have come than the walk read, or if late ones may stand on a page that could not be read. */
  readonly gap: boolean;
}

/**
 * The rows of a list that were sent, or existed before. Rows may come late, so timestamps do not show which ones are
 * new: all rows of the last minute are known by their ids.
 */
export class KnownRows {
  /**
   * The sortable timestamp of each known row, by the row's mark; empty if the row has no timestamp. Restored rows have
   * the newest moment, because a position has no other.
   */
  readonly #moments = new Map<string, string>();
  /**
   * The latest moment of a known row, or the time of its reading if that is earlier: clocks of apps are often wrong.
   */
  #newestMoment = '';
  /** Rows of this moment and of earlier ones are not sent. */
  #floorMoment = '';

  /** Restores the known rows that a position names. */
  static at({ boundary }: Position): KnownRows {
    const known = new KnownRows();
    if (boundary === undefined) return known;
    known.#newestMoment = sortableMoment(boundary.time) ?? '';
    const [marks = ''] = boundary.ids;
    for (let from = 0; from < marks.length; from += markLength)
      known.#moments.set(marks.slice(from, from + markLength), known.#newestMoment);
    return known;
  }

  /** The earliest moment whose rows may be sent; undefined if there is no such limit. */
  get since(): string | undefined {
    if (this.#newestMoment === '') return this.#floorMoment === '' ? undefined : this.#floorMoment;
    const earliest = secondsBefore(this.#newestMoment, lateness);
    return earliest > this.#floorMoment ? earliest : this.#floorMoment;
  }

  /** The rows of a walk that are not known. `add` makes them known. */
  newRowsIn({ rows, isWhole, isBrokenOff = false }: NewestRows): NewRows {
    const since = this.since ?? '';
    const newRows = rows.filter((row) => this.#isNew(row, since)).toReversed();
    const last = momentOf(rows.at(-1));
    const reachesKnown = !isBrokenOff && last < this.#newestMoment;
    const isCovered = isWhole || last < since || reachesKnown || (last !== '' && last <= this.#floorMoment);
    return { rows: newRows, gap: !isCovered };
  }

  /** Makes rows known. `now` is the sortable moment at which they were read. */
  add(rows: readonly Row[], now: string): void {
    for (const row of rows) {
      const mark = markOf(row);
      if (mark === undefined) continue;
      const moment = momentOf(row);
      this.#moments.set(mark, moment);
      const read = moment > now ? now : moment;
      if (read > this.#newestMoment) this.#newestMoment = read;
    }
  }

  /** Gives up the rows that the walk did not reach. Rows dated later than `now`, the time of the walk, may follow. */
  leaveOut({ rows }: NewestRows, now: string): void {
    const last = momentOf(rows.at(-1));
    const left = last > now ? now : last;
    if (left > this.#floorMoment) this.#floorMoment = left;
  }

  prune(): void {
    const since = this.since ?? '';
    for (const [mark, moment] of this.#moments) if (moment !== '' && moment < since) this.#moments.delete(mark);
    if (this.#moments.size <= mostKnown) return;
    const byMoment = [...this.#moments].toSorted(([, one], [, other]) => (one < other ? -1 : 1));
    for (const [mark, moment] of byMoment.slice(0, mostKnown / 2)) {
      this.#moments.delete(mark);
      if (moment > this.#floorMoment) this.#floorMoment = moment;
    }
  }

  /** The position at which a tail can continue. Rows that it does not name may be resent. */
  get position(): Position {
    if (this.#newestMoment === '') return { offset: 0 };
    const since = this.since ?? '';
    const recent = [...this.#moments].filter(([, moment]) => moment >= since);
    const named = recent.toSorted(([, one], [, other]) => (one < other ? 1 : -1)).slice(0, mostNamed);
    return { offset: 0, boundary: { time: this.#newestMoment, ids: [named.map(([mark]) => mark).join('')] } };
  }

  #isNew(row: Row, since: string): boolean {
    const mark = markOf(row);
    if (mark === undefined || this.#moments.has(mark)) return false;
    const moment = momentOf(row);
    return moment === '' || (moment >= since && moment > this.#floorMoment);
  }
}

/** The rows of a walk that are dated later than a sortable moment, oldest first. */
export function rowsSince(since: string, { rows }: NewestRows): readonly Row[] {
  return rows.filter((row) => momentOf(row) > since).toReversed();
}

/** The mark of a row, always of one length, so that positions stay short. A row without an id has none. */
function markOf(row: Row): string | undefined {
  return factsOf(row).mark;
}

function momentOf(row: Row | undefined): string {
  return row === undefined ? '' : factsOf(row).moment;
}

interface RowFacts {
  readonly mark: string | undefined;
  readonly moment: string;
}

/** The facts are found once for a row, because all rows of a poll are looked at for each position of a listener. */
const factsOf = memoize(({ id, timestamp }: Row): RowFacts => {
  const text = idText(id);
  return {
    mark: text === undefined ? undefined : hash('sha256', text, 'base64url').slice(0, markLength),
    moment: sortableMoment(timestamp) ?? '',
  };
});
