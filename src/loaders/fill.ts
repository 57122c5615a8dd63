import type { RestApi } from '../rest/api.ts';
import { isCostLimit } from '../rest/errors.ts';
import type { ListRef, Position, RestPage } from '../rest/pages.ts';
import { idText, type Row } from '../rest/values.ts';
import { joinPages, type ListPage, positionAfter, slicePage } from './page.ts';

/** How many further calls a page may cost that the upstream answers in pieces. */
const maximumFurtherCalls = 10;

/**
 * Reads `limit` rows from a position. An upstream that answers fewer than `filled` of them and names a `next` is asked
 * on until those are there, at most ten times; then, or when one of those calls fails, the page is what has come, and
 * goes on at `next`.
 */
export function fetchFilled(
  api: RestApi,
  list: ListRef,
  at: Position,
  limit: number,
  filled: number,
): Promise<ListPage> {
  return api.fetchPage(list, at, limit).then((restPage) => {
    const page = toListPage(restPage, at);
    return page.rows.length === limit ? page : fill(api, list, page, limit, filled);
  });
}

async function fill(api: RestApi, list: ListRef, first: ListPage, limit: number, filled: number): Promise<ListPage> {
  let page = first;
  for (let calls = 0; calls < maximumFurtherCalls; calls += 1) {
    if (page.rows.length >= filled || page.next === undefined) break;
    const next = positionAfter(page, page.rows.length - 1);
    const further = await fetchFurther(api, list, next, filled - page.rows.length);
    if (further === undefined) break;
    page = joinPages(page, further);
  }
  return page.rows.length > limit ? slicePage(page, 0, limit) : page;
}

async function fetchFurther(api: RestApi, list: ListRef, at: Position, limit: number): Promise<ListPage | undefined> {
  try {
    return toListPage(await api.fetchPage(list, at, limit), at);
  } catch (error) {
    if (isCostLimit(error)) throw error;
    return undefined;
  }
}

function toListPage(restPage: RestPage, at: Position): ListPage {
  const page = new WholePage(restPage, at);
  const { seen } = at;
  const { rows } = page;
  if (seen === undefined || !rows.some((row) => seen.includes(idText(row['id']) ?? ''))) return page;
  const before: ListPage = {
    rows: seen.map((id) => ({ id })),
    segments: [{ from: 0, at }],
    next: at,
    count: undefined,
  };
  return withoutFirst(joinPages(before, page), seen.length);
}

/** One REST page as a stretch of its list. */
class WholePage implements ListPage {
  readonly rows: readonly Row[];
  readonly segments: ListPage['segments'];
  readonly #restPage: RestPage;

  constructor(restPage: RestPage, at: Position) {
    this.rows = restPage.rows;
    this.segments = [{ from: 0, at }];
    this.#restPage = restPage;
  }

  get count(): number | undefined {
    return this.#restPage.count;
  }

  get next(): Position | undefined {
    return this.#restPage.next;
  }
}

function withoutFirst(page: ListPage, count: number): ListPage {
  return slicePage(page, count, page.rows.length);
}
