import DataLoader from 'dataloader';
import type { RestApi } from '../rest/api.ts';
import { isNotFound } from '../rest/errors.ts';
import { type Collection, current, type Key, keyText } from '../rest/paths.ts';
import { idText } from '../rest/values.ts';
import { type KnownRow, listView, type RowStore, suffices, type View } from './row-store.ts';
import type { SavedCalls } from './saved-calls.ts';
import type { WindowLoader } from './windows.ts';

/** A row in some view; undefined where it does not exist. */
type Found = Promise<KnownRow | undefined>;

/** Whether a page was read for rows by key alone, and none of them was counted as its cost yet. */
interface PageCharge {
  isDue: boolean;
}

/** So many rows of one list, wanted at once in the list view, are looked for in a page of the list first. */
export const pageFirstThreshold = 3;

/** Rows by key for one operation; never share it: it caches. */
export class RowLoader {
  readonly #api: RestApi;
  readonly #store: RowStore;
  readonly #windows: () => WindowLoader;
  readonly #maxPageSize: number;
  readonly #saved: SavedCalls;
  // No loader: one call each, and no row waits for another.
  readonly #byId = new Map<string, Found>();
  /** What was looked for in lists, by key. */
  readonly #looked = new Map<string, Found>();
  /** What has been loaded, until somebody has waited for it. */
  #loading: { readonly collection: Collection; readonly found: Found }[] = [];
  #inLists: DataLoader<Key, Found> | undefined;

  constructor(api: RestApi, store: RowStore, windows: () => WindowLoader, maxPageSize: number, saved: SavedCalls) {
    this.#api = api;
    this.#store = store;
    this.#windows = windows;
    this.#maxPageSize = maxPageSize;
    this.#saved = saved;
  }

  /** The row in a view that has the needed columns: known already, from a page under way, or read. */
  load(key: Key, need: View): Found {
    const known = this.#store.find(key, need);
    if (known !== undefined) {
      this.#saved[known.view === 'list' ? 'views' : 'knownRows'] += 1;
      return Promise.resolve(known);
    }
    const isInLists = suffices(listView(key.noun), need) && key.id !== current;
    const found = isInLists ? this.#find(key) : this.#readById(key);
    this.#loading.push({ collection: key, found });
    return found;
  }

  /** Waits for the rows and the pages of a collection that are wanted by now; false where there are none new. */
  async settlePending(collection: Collection): Promise<boolean> {
    await this.#windows().wanted();
    const pages = this.#windows().inFlight(collection);
    const text = collectionText(collection);
    const rows = this.#loading.filter((one) => collectionText(one.collection) === text).map(({ found }) => found);
    if (pages === undefined && rows.length === 0) return false;
    await Promise.allSettled([pages, ...rows]);
    this.#loading = this.#loading.filter(({ found }) => !rows.includes(found));
    return true;
  }

  /** Nothing read so far answers later loads. */
  clear(): void {
    this.#byId.clear();
    this.#looked.clear();
    this.#loading = [];
  }

  #find(key: Key): Found {
    const text = keyText(key);
    const looked = this.#looked.get(text);
    if (looked !== undefined) {
      this.#saved.knownRows += 1;
      return looked;
    }
    this.#inLists ??= new DataLoader<Key, Found>((keys) => Promise.resolve(this.#findAll(keys)), { cache: false });
    const found = this.#inLists.load(key).then((row) => row);
    this.#looked.set(text, found);
    return found;
  }

  /** Rows that are wanted together and for which a page of their list would do. */
  #findAll(keys: readonly Key[]): Found[] {
    const pages = new Map<string, Promise<PageCharge>>();
    for (const [text, [first, ...others]] of Map.groupBy(keys, collectionText)) {
      if (first !== undefined) pages.set(text, this.#readPages(first, [first, ...others]));
    }
    return keys.map(async (key) => {
      const charge = await pages.get(collectionText(key));
      const known = this.#store.find(key, 'list');
      if (known === undefined) return this.#readById(key);
      // The page cost what the first of its rows would have cost.
      if (charge?.isDue === true) charge.isDue = false;
      else this.#saved.views += 1;
      return known;
    });
  }

  /** Reads a page of a list where enough rows of it are wanted, and waits for every page that may hold one of them. */
  async #readPages({ noun, scope }: Collection, keys: readonly Key[]): Promise<PageCharge> {
    const before = this.#windows().inFlight({ noun, scope });
    if (before !== undefined) await before;
    // Asked for at once, so that a window of the same list that is wanted now becomes part of the page.
    const isDue = this.#unknown(keys).length >= pageFirstThreshold;
    if (isDue) await this.#readPage({ noun, scope });
    while (this.#unknown(keys).length > 0) {
      await this.#windows().wanted();
      const pages = this.#windows().inFlight({ noun, scope });
      if (pages === undefined) break;
      await pages;
    }
    return { isDue };
  }

  /** One page of the list, capped or not. Its failure is nobody's: each key is read by id then. */
  async #readPage(list: Collection): Promise<void> {
    await this.#windows()
      .load({ list, at: { offset: 0 }, limit: this.#maxPageSize, onePage: true })
      .catch(() => undefined);
  }

  #unknown(keys: readonly Key[]): readonly Key[] {
    return keys.filter((key) => !this.#byId.has(keyText(key)) && !this.#store.find(key, 'list'));
  }

  #readById(key: Key): Found {
    const text = keyText(key);
    const known = this.#byId.get(text);
    if (known !== undefined) {
      this.#saved.knownRows += 1;
      return known;
    }
    const found = this.#fetch(key);
    this.#byId.set(text, found);
    return found;
  }

  async #fetch(key: Key): Found {
    try {
      const known: KnownRow = { row: await this.#api.fetchRow(key), view: 'detail' };
      this.#store.learn(key, known);
      // Who asks for that project by its id later finds the same row.
      const id = key.id === current ? idText(known.row['id']) : undefined;
      if (id !== undefined) this.#store.learn({ ...key, id }, known);
      return known;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

function collectionText({ noun, scope }: Collection): string {
  return `${noun}:${scope}`;
}
