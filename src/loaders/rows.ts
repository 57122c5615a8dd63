import DataLoader from 'dataloader';
import type { RestApi } from '../rest/api.ts';
import { isNotFound } from '../rest/errors.ts';
import { type Collection, current, type Key, keyText } from '../rest/paths.ts';
import { idText } from '../rest/values.ts';
import { type KnownRow, listView, type RowStore, suffices, type View } from './row-store.ts';
import type { WindowLoader } from './windows.ts';

/** A row in some view; undefined where it does not exist. */
type Found = Promise<KnownRow | undefined>;

/** So many rows of one list, wanted at once in the list view, are looked for in a page of the list first. */
export const substitutionThreshold = 3;

/** Rows by key for one operation; never share it: it caches. */
export class RowLoader {
  readonly #api: RestApi;
  readonly #store: RowStore;
  readonly #windows: () => WindowLoader;
  readonly #maxPageSize: number;
  // No loader: one call each, and no row waits for another.
  readonly #byId = new Map<string, Found>();
  /** What has been loaded, until somebody has waited for it. */
  #loading: { readonly collection: Collection; readonly found: Found }[] = [];
  #inLists: DataLoader<Key, Found, string> | undefined;

  constructor(api: RestApi, store: RowStore, windows: () => WindowLoader, maxPageSize: number) {
    this.#api = api;
    this.#store = store;
    this.#windows = windows;
    this.#maxPageSize = maxPageSize;
  }

  /** The row in a view that has the needed columns: known already, from a page under way, or read. */
  load(key: Key, need: View): Found {
    const known = this.#store.find(key, need);
    if (known !== undefined) return Promise.resolve(known);
    const isInLists = suffices(listView(key.kind), need) && key.id !== current;
    const found = isInLists ? this.#find(key) : this.#readById(key);
    this.#loading.push({ collection: key, found });
    return found;
  }

  /** Waits for the rows and the pages of a collection that are wanted by now; false where there are none new. */
  async come(collection: Collection): Promise<boolean> {
    await this.#windows().wanted();
    const pages = this.#windows().underWay(collection);
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
    this.#inLists?.clearAll();
    this.#loading = [];
  }

  async #find(key: Key): Found {
    this.#inLists ??= new DataLoader<Key, Found, string>((keys) => Promise.resolve(this.#findAll(keys)), {
      cacheKeyFn: keyText,
    });
    return this.#inLists.load(key);
  }

  /** Rows that are wanted together and for which a page of their list would do. */
  #findAll(keys: readonly Key[]): Found[] {
    const pages = new Map<string, Promise<void>>();
    for (const [text, [first, ...others]] of Map.groupBy(keys, collectionText)) {
      if (first !== undefined) pages.set(text, this.#readPages(first, [first, ...others]));
    }
    return keys.map(async (key) => {
      await pages.get(collectionText(key));
      return this.#store.find(key, 'list') ?? this.#readById(key);
    });
  }

  /** Reads a page of a list where enough rows of it are wanted, and waits for every page that may hold one of them. */
  async #readPages({ kind, scope }: Collection, keys: readonly Key[]): Promise<void> {
    const before = this.#windows().underWay({ kind, scope });
    if (before !== undefined) await before;
    // Asked for at once, so that a window of the same list that is wanted now becomes part of the page.
    if (this.#unknown(keys).length >= substitutionThreshold) await this.#readPage({ kind, scope });
    while (this.#unknown(keys).length > 0) {
      await this.#windows().wanted();
      const pages = this.#windows().underWay({ kind, scope });
      if (pages === undefined) return;
      await pages;
    }
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
    if (known !== undefined) return known;
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

function collectionText({ kind, scope }: Collection): string {
  return `${kind}:${scope}`;
}
