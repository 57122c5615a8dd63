import type { RestApi } from '../rest/api.ts';
import { undefinedIfAbsent } from '../rest/errors.ts';
import { type Collection, current, type Key, keyText } from '../rest/paths.ts';
import { idText } from '../rest/values.ts';
import { type KnownRow, listView, type RowStore, suffices, type View } from './row-store.ts';
import type { SavedCalls, WindowLoader } from './window-loader.ts';

type RowPromise = Promise<KnownRow | undefined>;

interface WantedRow {
  readonly key: Key;
  readonly resolve: (found: KnownRow | RowPromise) => void;
  readonly reject: (error: unknown) => void;
}

/** If at least this many rows of one list are wanted at once in the list view, a page of the list is read first. */
export const pageFirstThreshold = 3;

/** Loads rows by their keys for one operation. `plan/row-plans.ts` predicts its calls: change both together. */
export class RowLoader {
  readonly #api: RestApi;
  readonly #store: RowStore;
  readonly #windows: WindowLoader;
  readonly #maxPageSize: number;
  readonly #saved: SavedCalls;
  readonly #byId = new Map<string, RowPromise>();
  /** The loads of rows that may come from a page of their list, by key. */
  readonly #byPage = new Map<string, RowPromise>();
  /** The loads that `settlePending` has waited for. */
  readonly #settled = new Set<RowPromise>();
  /** The rows that are wanted in this turn, by their list. */
  readonly #wanted = new Map<string, WantedRow[]>();

  constructor(api: RestApi, store: RowStore, windows: WindowLoader, maxPageSize: number, saved: SavedCalls) {
    this.#api = api;
    this.#store = store;
    this.#windows = windows;
    this.#maxPageSize = maxPageSize;
    this.#saved = saved;
  }

  /** The row in a view that suffices, from a page of its list or read by its id; undefined if it does not exist. */
  load(key: Key, need: View): RowPromise {
    const known = this.#store.find(key, need);
    if (known !== undefined) {
      this.#saved.count += 1;
      return Promise.resolve(known);
    }
    if (!suffices(listView(key.noun), need) || key.id === current) return this.#readById(key);
    const text = keyText(key);
    const wanted = this.#byPage.get(text);
    if (wanted !== undefined) {
      this.#saved.count += 1;
      return wanted;
    }
    const { promise, resolve, reject } = Promise.withResolvers<KnownRow | undefined>();
    this.#byPage.set(text, promise);
    const list = `${key.noun}:${key.scope}`;
    const rows = this.#wanted.get(list);
    if (rows !== undefined) rows.push({ key, resolve, reject });
    else {
      this.#wanted.set(list, [{ key, resolve, reject }]);
      this.#windows.batches.add('rows', () => void this.#find(key, list));
    }
    return promise;
  }

  /** Waits for all rows and pages of a collection that are wanted by now. Resolves to false if there are none. */
  async settlePending(collection: Collection): Promise<boolean> {
    await this.#windows.batches.allRequested();
    const pages = this.#windows.inFlight(collection);
    const prefix = keyText({ ...collection, id: '' });
    const rows = [...this.#byId, ...this.#byPage].flatMap(([text, row]) => (text.startsWith(prefix) ? [row] : []));
    const pending = rows.filter((row) => !this.#settled.has(row));
    if (pages === undefined && pending.length === 0) return false;
    await Promise.allSettled([pages, ...pending]);
    for (const row of pending) this.#settled.add(row);
    return true;
  }

  /**
   * Finds the rows of a list that were wanted in the same turn. Reads a page of the list if enough rows are wanted, and
   * waits for every page that may hold one of them.
   */
  async #find({ noun, scope }: Collection, list: string): Promise<void> {
    const wanted = this.#wanted.get(list) ?? [];
    this.#wanted.delete(list);
    try {
      const keys = wanted.map(({ key }) => key);
      const before = this.#windows.inFlight({ noun, scope });
      if (before !== undefined) await before;
      // The page is requested at once, so that it can also answer a window of the same list that is wanted now.
      const isPageFirst = this.#unknown(keys).length >= pageFirstThreshold;
      if (isPageFirst) {
        const page = { list: { noun, scope }, at: { offset: 0 }, limit: this.#maxPageSize, onePage: true };
        // If it fails, each key is read by id.
        await this.#windows.load(page).catch(() => undefined);
      }
      while (this.#unknown(keys).length > 0) {
        await this.#windows.batches.allRequested();
        const pages = this.#windows.inFlight({ noun, scope });
        if (pages === undefined) break;
        await pages;
      }
      const found = keys.filter((key) => this.#store.find(key, 'list') !== undefined).length;
      // The page itself cost one call, so the first row that it answered saved no call.
      this.#saved.count += isPageFirst ? Math.max(found - 1, 0) : found;
      for (const { key, resolve } of wanted) resolve(this.#store.find(key, 'list') ?? this.#readById(key));
    } catch (error) {
      // If the error were thrown on, no promise would receive it, and the process would end.
      for (const { reject } of wanted) reject(error);
    }
  }

  #unknown(keys: readonly Key[]): readonly Key[] {
    return keys.filter((key) => !this.#byId.has(keyText(key)) && !this.#store.find(key, 'list'));
  }

  #readById(key: Key): RowPromise {
    const text = keyText(key);
    const known = this.#byId.get(text);
    if (known !== undefined) {
      this.#saved.count += 1;
      return known;
    }
    const found = this.#api.fetchRow(key).then((row) => {
      const read: KnownRow = { row, view: 'detail' };
      this.#store.learn(key, read);
      // Later loads also find the project behind `@current` by its real id.
      const id = key.id === current ? idText(row['id']) : undefined;
      if (id !== undefined) this.#store.learn({ ...key, id }, read);
      return read;
    }, undefinedIfAbsent);
    this.#byId.set(text, found);
    return found;
  }
}
