import DataLoader from 'dataloader';
import type { RestApi } from '../rest/api.ts';
import { type ListRef, listText, type Position } from '../rest/pages.ts';
import { type Collection, collectionPath } from '../rest/paths.ts';
import { fetchFilled } from './fill.ts';
import { type Hull, hullsOf } from './hulls.ts';
import { joinPages, type ListPage, positionOf, slicePage, tailOf } from './page.ts';
import type { RowStore } from './row-store.ts';

/** A stretch of a list that somebody wants: `limit` rows from a position, or only the count of the whole list. */
export interface Window {
  readonly list: ListRef;
  readonly at: Position;
  readonly limit: number;
  readonly countOnly?: boolean;
}

/** A window, and what it has in common with those that it may share pages with. */
interface Wanted extends Window {
  readonly base: string;
}

/** A page that was read or is being read. */
interface Reading extends Hull {
  readonly page: Promise<ListPage>;
  settled: boolean;
}

/** Pages that a tail may cost beyond the first two, where the list turned out longer than its count. */
const maximumTailPages = 10;

/**
 * Windows of lists for one operation; never share it: it caches. Windows of one list that are wanted at once are read
 * as few pages as their hulls allow, and a window within a page that was read already costs nothing.
 */
export class WindowLoader {
  readonly #api: RestApi;
  readonly #store: RowStore;
  readonly #maxPageSize: number;
  readonly #readings = new Map<string, Reading[]>();
  /** The same readings by what their rows are. */
  readonly #ofCollection = new Map<string, Reading[]>();
  // The values are promises, so that no window waits for the page of another list.
  readonly #loader = new DataLoader<Wanted, Promise<ListPage>>((windows) => Promise.resolve(this.#loadAll(windows)), {
    cache: false,
    batchScheduleFn: (dispatch) => afterLoads(() => process.nextTick(dispatch)),
  });

  /** `maxPageSize` is the most rows that one call asks for. */
  constructor(api: RestApi, store: RowStore, maxPageSize: number) {
    this.#api = api;
    this.#store = store;
    this.#maxPageSize = maxPageSize;
  }

  /** The page of a window; for a count, any page of its list. */
  async load(window: Window): Promise<ListPage> {
    const { list, at, limit, countOnly = false } = window;
    // A list whose path is refused fails here, alone, and not with the others of its batch.
    return this.#loader.load({ list, at, limit, countOnly, base: baseText(window) });
  }

  /**
   * The last rows of a list with a count, from an offset on. A page of the maximum size comes first, since most lists
   * end in it; else the count says where the tail begins.
   */
  async loadTail(list: ListRef, from: number, limit: number): Promise<ListPage> {
    let page = await this.load({ list, at: { offset: from }, limit: this.#maxPageSize });
    if (page.next !== undefined && page.count !== undefined) {
      const start = Math.max(page.count - limit, from);
      const jumped = await this.load({ list, at: { offset: start }, limit });
      // A count that is too high leads past the end; then the list is walked instead.
      if (jumped.rows.length > 0) page = jumped;
    }
    for (let pages = 0; page.next !== undefined && pages < maximumTailPages; pages += 1) {
      page = joinPages(page, await this.load({ list, at: page.next, limit: this.#maxPageSize }));
    }
    const tail = tailOf(page, limit);
    const start = positionOf(tail, 0).offset;
    if (tail.rows.length === limit || start <= from) return tail;
    // A count that is a little too high led into the tail, and not to where it begins.
    return this.load({ list, at: { offset: Math.max(start + tail.rows.length - limit, from) }, limit });
  }

  /** Settles when every window that is wanted by now has been asked for. */
  async wanted(): Promise<void> {
    await new Promise<void>((resolve) => afterLoads(() => process.nextTick(() => process.nextTick(resolve))));
  }

  /** Settles when no page of a collection, filtered or not, is under way any more; undefined where none is. */
  underWay(collection: Collection): Promise<unknown> | undefined {
    const readings = this.#ofCollection.get(collectionPath(collection)) ?? [];
    const pages = readings.filter(({ settled }) => !settled).map(({ page }) => page);
    return pages.length === 0 ? undefined : Promise.allSettled(pages);
  }

  /** Nothing read so far answers later windows. */
  clear(): void {
    this.#readings.clear();
    this.#ofCollection.clear();
  }

  #loadAll(windows: readonly Wanted[]): Promise<ListPage>[] {
    for (const [base, together] of Map.groupBy(windows, (window) => window.base)) {
      const missing = together.filter((window) => this.#readingFor(window) === undefined);
      const [first] = missing;
      if (first !== undefined) for (const hull of hullsOf(missing, this.#maxPageSize)) this.#read(base, first, hull);
    }
    return windows.map((window) => this.#answer(window));
  }

  async #answer(window: Wanted): Promise<ListPage> {
    const { base } = window;
    const reading = this.#readingFor(window);
    if (reading === undefined) throw new Error('a window was left out of every hull');
    const page = await reading.page;
    if (window.countOnly === true) return page;
    const { at, limit } = window;
    const from = at.offset - reading.offset;
    if (from === 0 || page.next === undefined || from + limit <= page.rows.length) return slicePage(page, from, limit);
    // The upstream capped the page before this window had all the rows that it gets alone.
    const own = this.#readings.get(base)?.find((hull) => hull.offset === at.offset && hull.limit >= limit);
    return slicePage(await (own ?? this.#read(base, window, { offset: at.offset, limit })).page, 0, limit);
  }

  #read(base: string, { list, at }: Window, hull: Hull): Reading {
    const page = fetchFilled(this.#api, list, { ...at, offset: hull.offset }, hull.limit);
    const reading: Reading = { ...hull, page, settled: false };
    const settle = (): void => {
      reading.settled = true;
    };
    page.then(({ rows }) => this.#store.learnPage(list, rows)).then(settle, settle);
    addTo(this.#readings, base, reading);
    addTo(this.#ofCollection, collectionPath(list), reading);
    return reading;
  }

  /** The reading that answers a window: any page for a count, one that holds the whole window for rows. */
  #readingFor({ base, at, limit, countOnly }: Wanted): Reading | undefined {
    const readings = this.#readings.get(base);
    if (countOnly === true) return readings?.[0];
    return readings?.find((hull) => hull.offset <= at.offset && at.offset + limit <= hull.offset + hull.limit);
  }
}

function addTo<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}

/** Calls back when everything that is resolved by now has asked for what it needs, as DataLoader's own schedule does. */
function afterLoads(callback: () => void): void {
  Promise.resolve().then(() => process.nextTick(callback), callback);
}

/**
 * Windows that stand on the same filter and the same instant share pages; this is what they have in common. Where rows
 * may be left out because they were seen, offsets do not count the page's rows, and only equal ones share.
 */
function baseText({ list, at }: Window): string {
  const boundary = at.seen === undefined ? '' : `${at.offset} ${at.seen.join()}`;
  return `${listText(list)} ${at.before ?? ''} ${at.after ?? ''} ${boundary}`;
}
