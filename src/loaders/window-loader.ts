import type { RestApi } from '../rest/api.ts';
import type { ListRef } from '../rest/pages.ts';
import type { Collection } from '../rest/paths.ts';
import { BatchSchedule } from './batch-schedule.ts';
import { joinPages, type ListPage, lastRowsOf, positionOf, slicePage } from './list-pages.ts';
import {
  isEqualWindow,
  type MergedPage,
  mergedPagesOf,
  mergeKeyOf,
  requiredRowsOf,
  type Window,
} from './merged-pages.ts';
import { fetchFilledPage } from './next-pages.ts';
import type { RowStore } from './row-store.ts';

/** A lower bound of the REST calls that loaders have saved. */
export interface SavedCalls {
  count: number;
}

interface PendingWindow {
  readonly window: Window;
  /** A text that is equal for windows that can share pages (see `mergeKeyOf`). */
  readonly mergeKey: string;
  readonly page: Promise<ListPage>;
  readonly resolve: (page: ListPage | Promise<ListPage>) => void;
  readonly reject: (error: unknown) => void;
}

interface RequestedPage extends MergedPage {
  /** The number of rows that must be read, with further calls if the upstream answers fewer. */
  readonly required: number;
  /** The number of rows that were asked for, or that came if the upstream caps its pages. */
  available: number;
  readonly collection: Collection;
  readonly page: Promise<ListPage>;
  isSettled: boolean;
  /** True if a window has been answered. Every further window that the page answers saves a call. */
  hasAnswered: boolean;
}

/** The maximum number of pages that `loadEnd` reads after the first two, if the list is longer than its count. */
const maximumEndPages = 10;

/**
 * Loads windows of lists for one operation. Windows of one list that are wanted in one turn of the event loop are read
 * with the fewest merged pages. A window inside a page that was read costs nothing. `plan/list-plans.ts` predicts these
 * pages: change both together.
 */
export class WindowLoader {
  /** The batches of windows, and of the rows that may come from their pages. */
  readonly batches = new BatchSchedule();
  readonly #api: RestApi;
  readonly #store: RowStore;
  readonly #maxPageSize: number;
  readonly #saved: SavedCalls;
  readonly #requested = new Map<string, RequestedPage[]>();
  #pending: PendingWindow[] = [];

  /** `maxPageSize` is the most rows that one call asks for. */
  constructor(api: RestApi, store: RowStore, maxPageSize: number, saved: SavedCalls) {
    this.#api = api;
    this.#store = store;
    this.#maxPageSize = maxPageSize;
    this.#saved = saved;
  }

  /** The page of a window; for a count, any page of its list. */
  load(window: Window): Promise<ListPage> {
    const last = this.#pending.at(-1);
    // If all rows of a page have one owner, and each row asks for a list of its owner, equal windows follow each other.
    if (last !== undefined && isEqualWindow(last.window, window)) {
      this.#saved.count += 1;
      return last.page;
    }
    const { promise: page, resolve, reject } = Promise.withResolvers<ListPage>();
    try {
      // If the path of a list is refused, only this load fails, and not the others of its batch.
      const mergeKey = mergeKeyOf(window);
      if (last === undefined) this.batches.add('windows', () => this.#dispatch());
      this.#pending.push({ window, mergeKey, page, resolve, reject });
    } catch (error) {
      reject(error);
    }
    return page;
  }

  /**
   * The last `limit` rows of a counted list, but none before the offset `from`. A page of the maximum size is read
   * first, because most lists end within it. If the list is longer, the count shows where its last rows begin.
   */
  async loadEnd(list: ListRef, from: number, limit: number): Promise<ListPage> {
    let page = await this.load({ list, at: { offset: from }, limit: this.#maxPageSize, onePage: true });
    if (page.next !== undefined && page.count !== undefined) {
      const start = Math.max(page.count - limit, from);
      const jumped = await this.load({ list, at: { offset: start }, limit });
      // A count that is too high leads past the end; then the list is walked instead.
      if (jumped.rows.length > 0) page = jumped;
    }
    for (let pages = 0; page.next !== undefined && pages < maximumEndPages; pages += 1) {
      page = joinPages(page, await this.load({ list, at: page.next, limit: this.#maxPageSize }));
    }
    const end = lastRowsOf(page, limit);
    const start = positionOf(end, 0).offset;
    if (end.rows.length === limit || start <= from) return end;
    // The list was shorter than its count said, so the page has only some of the last rows. One more page has them all.
    return this.load({ list, at: { offset: Math.max(start + end.rows.length - limit, from) }, limit });
  }

  /** Resolves when all pages in flight of a collection, filtered or not, have settled; undefined if there are none. */
  inFlight(collection: Collection): Promise<unknown> | undefined {
    const { noun, scope } = collection;
    const pending = [...this.#requested.values()].flat().filter(({ isSettled }) => !isSettled);
    const pages = pending.filter((one) => one.collection.noun === noun && one.collection.scope === scope);
    return pages.length === 0 ? undefined : Promise.allSettled(pages.map(({ page }) => page));
  }

  #dispatch(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const [mergeKey, together] of Map.groupBy(pending, (one) => one.mergeKey)) {
      try {
        this.#readMissing(mergeKey, together);
      } catch (error) {
        // If the error were thrown on, no promise would receive it, and the process would end.
        for (const one of together) one.reject(error);
      }
    }
    for (const one of pending) {
      const requested = this.#requestedFor(one);
      if (requested === undefined) one.reject(new Error('a window was left out of every merged page'));
      else requested.page.then((page) => one.resolve(this.#slice(page, one, requested)), one.reject);
    }
  }

  /** Reads the windows that no page answers yet, merged to as few pages as they fit in. */
  #readMissing(mergeKey: string, together: readonly PendingWindow[]): void {
    const missing = together.filter((one) => this.#requestedFor(one) === undefined).map(({ window }) => window);
    const [first] = missing;
    if (first === undefined) return;
    const { list, at } = first;
    const paged = { api: this.#api, list, maximum: this.#maxPageSize };
    for (const { offset, limit } of mergedPagesOf(missing, this.#maxPageSize)) {
      const required = requiredRowsOf({ offset, limit }, missing);
      const page = fetchFilledPage(paged, at.offset === offset ? at : { ...at, offset }, limit, required);
      const range = { offset, limit, required, available: limit, collection: list };
      const requested: RequestedPage = { ...range, page, isSettled: false, hasAnswered: false };
      page.then(
        (read) => {
          // The `next` of a full page is not read, because reading it would parse a URL.
          if (read.rows.length < limit && read.next !== undefined) requested.available = read.rows.length;
          this.#store.learnPage(list, read.rows);
          requested.isSettled = true;
        },
        () => {
          requested.isSettled = true;
        },
      );
      const pages = this.#requested.get(mergeKey);
      if (pages === undefined) this.#requested.set(mergeKey, [requested]);
      else pages.push(requested);
    }
  }

  #slice(page: ListPage, { window }: PendingWindow, requested: RequestedPage): ListPage | Promise<ListPage> {
    if (window.countOnly === true) {
      this.#noteAnswer(requested);
      return page;
    }
    const from = window.at.offset - requested.offset;
    const wanted = window.onePage === true ? 1 : window.limit;
    if (isFilledFor(window, requested) || from + wanted <= page.rows.length || page.next === undefined) {
      // A page that took several calls may not have saved any.
      if (page.segments.length === 1) this.#noteAnswer(requested);
      else requested.hasAnswered = true;
      return slicePage(page, from, window.limit);
    }
    // The upstream capped the page. A call for this window alone gets more rows.
    return this.load(window);
  }

  #noteAnswer(requested: RequestedPage): void {
    if (requested.hasAnswered) this.#saved.count += 1;
    requested.hasAnswered = true;
  }

  /** The requested page that answers a window: any page for a count, one that holds the whole window for rows. */
  #requestedFor({ mergeKey, window }: PendingWindow): RequestedPage | undefined {
    const pages = this.#requested.get(mergeKey);
    const { at, limit, countOnly } = window;
    if (countOnly === true) return pages?.[0];
    return pages?.find((requested) => {
      const { offset, available } = requested;
      return (offset <= at.offset && at.offset + limit <= offset + available) || isFilledFor(window, requested);
    });
  }
}

/** True if a page begins where the window does, and has the rows that a call for the window alone would get. */
function isFilledFor({ at, limit, onePage }: Window, requested: RequestedPage): boolean {
  return requested.offset === at.offset && limit <= (onePage === true ? requested.limit : requested.required);
}
