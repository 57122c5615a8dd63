import type { RestApi } from '../rest/api.ts';
import { isCostLimit, UpstreamError } from '../rest/errors.ts';
import type { ListRef, RestPage } from '../rest/pages.ts';
import { isBehindCount, type Position } from '../rest/positions.ts';
import { joinPages, type ListPage, positionAfter, slicePage } from './list-pages.ts';

/** The maximum number of further calls for one page, if the upstream answers the page in pieces. */
const maximumFurtherCalls = 10;

/** A list whose pages are read. `maximum` is the most rows that one call asks for. */
export interface PagedList {
  readonly api: RestApi;
  readonly list: ListRef;
  readonly maximum: number;
}

/**
 * Reads `limit` rows from a position. If the upstream answers fewer than `required` rows and names a `next`, further
 * calls ask for the rest. If these calls do not suffice, or one fails, the page has the rows that have arrived, and
 * goes on at `next`. The list ends if a call starts behind all counted rows and brings no new row.
 * Rejects if a client could not go on, because `next` leads to the same rows again or no row has arrived.
 */
export function fetchFilledPage(paged: PagedList, at: Position, limit: number, required: number): Promise<ListPage> {
  const { api, list, maximum } = paged;
  return api
    .fetchPage(list, at, limit, maximum)
    .then((page) => (page.rows.length >= limit ? slicePage(page, 0, limit) : fill(paged, page, limit, required)));
}

async function fill(paged: PagedList, first: RestPage, limit: number, required: number): Promise<ListPage> {
  let page: ListPage = first;
  let last = first;
  for (let calls = 0; calls < maximumFurtherCalls; calls += 1) {
    if (page.rows.length >= required || page.next === undefined) break;
    const at = page.rows.length === 0 ? page.next : positionAfter(page, page.rows.length - 1);
    // A call reads the rows of the boundary again before new ones. If the upstream answers fewer rows at once than the
    // boundary has, no new row would come. A smaller `maximum` makes the call skip some of these rows by its offset.
    const isBoundaryTooLong = last.isCapped && (at.boundary?.ids.length ?? 0) > last.ids.length;
    const maximum = isBoundaryTooLong ? last.ids.length : paged.maximum;
    const further = await fetchFurther({ ...paged, maximum }, page, at, required - page.rows.length);
    if (further === undefined) break;
    const joined = joinPages(page, further);
    const hasNew = joined.rows.length > page.rows.length;
    if (!hasNew && isBehindCount(further)) return { ...page, next: undefined };
    if (!hasNew && repeats(further, last)) throw nowhereError();
    page = joined;
    last = further;
  }
  if (page.rows.length === 0 && required > 0 && page.next !== undefined) throw nowhereError();
  return page.rows.length > limit ? slicePage(page, 0, limit) : page;
}

/**
 * True if the upstream keeps giving the same rows. Called only if the page `further` has brought no new row. `last` is
 * the page that was read before it.
 */
function repeats(further: RestPage, last: RestPage): boolean {
  if (further.next === undefined) return false;
  if (further.isNextBroken) return true;
  return further.at.offset > 0 && further.ids.length > 0 && hasEqualItems(further.ids, last.ids);
}

function hasEqualItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

/**
 * The next page. Undefined if its call fails and earlier pages had rows: these rows are then the answer. The cost limit
 * and a dead end are errors in any case.
 */
async function fetchFurther(
  { api, list, maximum }: PagedList,
  page: ListPage,
  at: Position,
  limit: number,
): Promise<RestPage | undefined> {
  try {
    return await api.fetchPage(list, at, limit, maximum);
  } catch (error) {
    if (isCostLimit(error) || at.isDeadEnd === true || page.rows.length === 0) throw error;
    return undefined;
  }
}

function nowhereError(): UpstreamError {
  return new UpstreamError('UPSTREAM_INVALID_RESPONSE');
}
