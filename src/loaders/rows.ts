import DataLoader from 'dataloader';
import type { RestApi } from '../rest/api.ts';
import { isNotFound } from '../rest/errors.ts';
import { type Collection, type Key, keyText } from '../rest/paths.ts';
import { type KnownRow, listView, type RowStore, suffices, type View } from './row-store.ts';
import type { WindowLoader } from './windows.ts';

/** Rows by key. A row that does not exist is undefined. */
export interface RowLoader {
  /** The row in a view that has the needed columns: known already, from a page under way, or read. */
  readonly load: (key: Key, need: View) => Promise<KnownRow | undefined>;
  readonly clear: () => void;
}

type Wanted = Promise<KnownRow | undefined>;

/** So many rows of one list, wanted at once in the list view, are looked for in a page of the list first. */
const substitutionThreshold = 3;

/** The rows of one operation. Never share the result: it caches. */
export function createRowLoader(api: RestApi, store: RowStore, windows: WindowLoader, maxPageSize: number): RowLoader {
  // One call each, and no row waits for another.
  const byId = new DataLoader<Key, Wanted, string>(
    (keys) => Promise.resolve(keys.map((key) => fetchRow(api, store, key))),
    { batch: false, cacheKeyFn: keyText },
  );
  const reading = new Set<string>();
  const readById = async (key: Key): Wanted => {
    reading.add(keyText(key));
    return byId.load(key);
  };

  const unknown = (keys: readonly Key[]): readonly Key[] =>
    keys.filter((key) => !reading.has(keyText(key)) && store.find(key, 'list') === undefined);

  /** Waits for pages that may hold rows of one list, and reads one where enough of them are wanted. */
  const pagesFor = async (collection: Collection, keys: readonly Key[]): Promise<void> => {
    await windows.underWay(collection);
    if (unknown(keys).length < substitutionThreshold) return;
    // Its failure is nobody's: each key is read by id then.
    await windows
      .load({ list: { kind: collection.kind, scope: collection.scope }, at: { offset: 0 }, limit: maxPageSize })
      .catch(() => undefined);
  };

  const inList = new DataLoader<Key, Wanted, string>(
    (keys) => {
      const pages = new Map<string, Promise<void>>();
      for (const [text, [first, ...others]] of Map.groupBy(keys, collectionText)) {
        if (first !== undefined) pages.set(text, pagesFor(first, [first, ...others]));
      }
      const find = async (key: Key): Wanted => {
        await pages.get(collectionText(key));
        return store.find(key, 'list') ?? readById(key);
      };
      return Promise.resolve(keys.map(find));
    },
    { cacheKeyFn: keyText },
  );

  return {
    load: async (key, need) => {
      const known = store.find(key, need);
      if (known !== undefined) return known;
      return suffices(listView(key.kind), need) ? inList.load(key) : readById(key);
    },
    clear: () => {
      byId.clearAll();
      inList.clearAll();
      reading.clear();
    },
  };
}

function collectionText({ kind, scope }: Collection): string {
  return `${kind}:${scope}`;
}

async function fetchRow(api: RestApi, store: RowStore, key: Key): Promise<KnownRow | undefined> {
  try {
    const known: KnownRow = { row: await api.fetchRow(key), view: 'detail' };
    store.learn(key, known);
    return known;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
