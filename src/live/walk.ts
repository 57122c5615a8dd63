import { joinPages, type ListPage } from '../loaders/list-pages.ts';
import { fetchFilledPage, type PagedList } from '../loaders/next-pages.ts';
import { isCostLimit } from '../rest/errors.ts';
import { secondsBefore, sortableMoment, wholeSecond } from '../rest/instants.ts';
import type { ListRef } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import type { Row } from '../rest/values.ts';

/** The newest rows of a list, as one poll read them. */
export interface NewestRows {
  /** Newest first, each once. */
  readonly rows: readonly Row[];
  /** True if no row since the requested moment is missing. */
  readonly isWhole: boolean;
  /** True if the walk ended because a page could not be read, and not because of a limit. */
  readonly isBrokenOff?: boolean;
}

/** The most REST calls of one poll: the first, and ten further ones. */
export const mostCalls = 11;

/**
 * The seconds that the first poll of a tail reads back from the newest row, because rows may arrive that late. If the
 * newest row is dated in the future, the poll reads back from now.
 */
const firstSeconds = 60;

/**
 * The seconds by which rows may be dated ahead, because clocks differ a little. Rows dated further ahead are read once
 * their time has come. Otherwise, an app that sends such rows could fill all pages of a poll.
 */
const aheadSeconds = 2;

/**
 * Reads the newest rows of a list, back to the sortable moment `since`; without it, `firstSeconds` back. Rejects if a
 * call fails, because rows between the pages would be lost. If the next page would take too much memory or too many
 * calls, or fails with an error of which `isBearable` is true, the walk ends with the newest rows.
 */
export async function walkBack(
  paged: PagedList,
  since: string | undefined,
  now: string,
  isBearable: (error: unknown) => boolean,
): Promise<NewestRows> {
  const sized = { ...paged, list: withTimeBounds(paged.list, since, now) };
  let page: ListPage | undefined;
  let at: Position = { offset: 0 };
  let until = since;
  for (let calls = 1; ; calls += 1) {
    let further: ListPage;
    try {
      further = await fetchFilledPage(sized, at, paged.maximum, 0);
    } catch (error) {
      const isBrokenOff = !isCostLimit(error);
      if (page === undefined || (isBrokenOff && !isBearable(error))) throw error;
      return { rows: page.rows, isWhole: false, isBrokenOff };
    }
    page = page === undefined ? further : joinPages(page, further);
    until ??= firstMoment(page.rows, now);
    const { next } = further;
    const isWhole = next === undefined || isBelow(further.rows.at(-1), until);
    if (next === undefined || isWhole || next.isDeadEnd === true || calls === mostCalls)
      return { rows: page.rows, isWhole };
    at = next;
  }
}

/** The list from a second before `since` until shortly after `now`. The upstream may include or exclude the bounds. */
function withTimeBounds(list: ListRef, since: string | undefined, now: string): ListRef {
  const before = wholeSecond(secondsBefore(now, -aheadSeconds));
  const after = since === undefined ? undefined : wholeSecond(secondsBefore(since, 1));
  return { ...list, filter: { ...list.filter, ...(after !== undefined && { after }), before } };
}

function firstMoment([newest]: readonly Row[], now: string): string | undefined {
  const moment = sortableMoment(newest?.['timestamp']);
  if (moment === undefined) return undefined;
  // Clocks of apps may be ahead.
  return secondsBefore(moment < now ? moment : now, firstSeconds);
}

function isBelow(row: Row | undefined, until: string | undefined): boolean {
  const moment = sortableMoment(row?.['timestamp']);
  return moment !== undefined && until !== undefined && moment < until;
}
