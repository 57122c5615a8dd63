import DataLoader from 'dataloader';
import type { RestApi } from '../rest/api.ts';
import { type ListRef, listText, type Position } from '../rest/pages.ts';
import type { Collection } from '../rest/paths.ts';
import { fetchFilled } from './fill.ts';
import { type Hull, hullsOf } from './hulls.ts';
import { joinPages, type ListPage, slicePage, tailOf } from './page.ts';
import type { RowStore } from './row-store.ts';

/** A stretch of a list that somebody wants: `limit` rows from a position, or only the count of the whole list. */
export interface Window {
  readonly list: ListRef;
  readonly at: Position;
  readonly limit: number;
  readonly countOnly?: boolean;
}

/** A page that was read or is being read. */
interface Reading extends Hull {
  readonly page: Promise<ListPage>;
  settled: boolean;
}

/** Windows of lists. Those of one list that are wanted at once are read as few pages as their hulls allow. */
export interface WindowLoader {
  readonly load: (window: Window) => Promise<ListPage>;
  /** The last rows of a list, from an offset on, for lists with a count. */
  readonly loadTail: (list: ListRef, from: number, limit: number) => Promise<ListPage>;
  /** Settles when no page of the collection is under way any more; undefined where none is. */
  readonly underWay: (collection: Collection) => Promise<unknown> | undefined;
  /** Nothing read so far answers later windows. */
  readonly clear: () => void;
}

/** Windows that stand on the same filter and the same instant share pages; this is what they have in common. */
function baseText({ list, at }: Window): string {
  return `${listText(list)} ${at.before ?? ''} ${at.after ?? ''} ${at.seen?.join() ?? ''}`;
}

/** The windows of one operation. Never share the result: it caches. `maxPageSize` is the most rows one call asks for. */
export function createWindowLoader(api: RestApi, store: RowStore, maxPageSize: number): WindowLoader {
  const readings = new Map<string, Reading[]>();

  const read = (window: Window, base: string, hull: Hull): Reading => {
    const at = { ...window.at, offset: hull.offset };
    const page = fetchFilled(api, window.list, at, hull.limit);
    const reading: Reading = { ...hull, page, settled: false };
    const settle = (): void => {
      reading.settled = true;
    };
    page.then((done) => store.learnPage(window.list, done.rows)).then(settle, settle);
    const known = readings.get(base);
    if (known === undefined) readings.set(base, [reading]);
    else known.push(reading);
    return reading;
  };

  const loadAll = (windows: readonly Window[]): Promise<ListPage>[] => {
    const byBase = Map.groupBy(windows, baseText);
    for (const [base, wanted] of byBase) {
      const [first] = wanted;
      const missing = wanted.filter((window) => readingFor(readings.get(base), window) === undefined);
      if (first !== undefined) for (const hull of hullsOf(missing, maxPageSize)) read(first, base, hull);
    }
    return windows.map((window) => answer(readingFor(readings.get(baseText(window)), window), window));
  };

  // The values are promises, so that no window waits for the page of another list.
  const loader = new DataLoader<Window, Promise<ListPage>>((windows) => Promise.resolve(loadAll(windows)), {
    cache: false,
  });
  const load = async (window: Window): Promise<ListPage> => loader.load(window);

  return {
    load,
    loadTail: (list, from, limit) => loadTail(load, list, from, limit, maxPageSize),
    underWay: (collection) => {
      const pages = (
        readings.get(
          baseText({ list: { kind: collection.kind, scope: collection.scope }, at: { offset: 0 }, limit: 0 }),
        ) ?? []
      )
        .filter(({ settled }) => !settled)
        .map(({ page }) => page);
      return pages.length === 0 ? undefined : Promise.allSettled(pages);
    },
    clear: () => readings.clear(),
  };
}

/** The reading that answers a window: any page for a count, one that holds the whole window for rows. */
function readingFor(readings: readonly Reading[] | undefined, window: Window): Reading | undefined {
  if (window.countOnly === true) return readings?.[0];
  const end = window.at.offset + window.limit;
  return readings?.find(({ offset, limit }) => offset <= window.at.offset && end <= offset + limit);
}

async function answer(reading: Reading | undefined, window: Window): Promise<ListPage> {
  if (reading === undefined) throw new Error('a window was left out of every hull');
  const page = await reading.page;
  if (window.countOnly === true) return page;
  return slicePage(page, window.at.offset - reading.offset, window.limit);
}

/** Pages that a tail may cost beyond the first two, where the list turned out longer than its count. */
const maximumTailPages = 10;

/** A page of the maximum size first: most lists end in it. Else the count says where the tail begins. */
async function loadTail(
  load: (window: Window) => Promise<ListPage>,
  list: ListRef,
  from: number,
  limit: number,
  maxPageSize: number,
): Promise<ListPage> {
  let page = await load({ list, at: { offset: from }, limit: maxPageSize });
  if (page.next !== undefined && page.count !== undefined) {
    const start = Math.max(page.count - limit, from);
    const jumped = await load({ list, at: { offset: start }, limit });
    // A count that is too high leads past the end; then the list is walked instead.
    if (jumped.rows.length > 0) page = jumped;
  }
  for (let pages = 0; page.next !== undefined && pages < maximumTailPages; pages += 1) {
    page = joinPages(page, await load({ list, at: page.next, limit: maxPageSize }));
  }
  return tailOf(page, limit);
}
