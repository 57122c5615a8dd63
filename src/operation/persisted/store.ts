import { LRUCache } from 'lru-cache';

/** Texts by their SHA-256: what clients registered. It may forget any of them at any time, and never fails. */
export interface TextStore {
  /** The text; undefined if it is not known. A store that answers at once answers without a promise. */
  readonly get: (hash: string) => string | undefined | Promise<string | undefined>;
  readonly set: (hash: string, text: string) => void;
  readonly close: () => void;
}

/** Most texts that one process keeps, and their bytes at two for a character. */
const most = { entries: 10_000, bytes: 32 * 2 ** 20 };

/** Keeps the texts that were asked for last in memory. */
export function createMemoryStore({ entries, bytes } = most): TextStore {
  const texts = new LRUCache<string, string>({
    max: entries,
    maxSize: bytes,
    sizeCalculation: (text, hash) => (text.length + hash.length) * 2,
  });
  return {
    get: (hash) => texts.get(hash),
    set: (hash, text) => void texts.set(hash, text),
    close: () => texts.clear(),
  };
}

/** Asks the near store first, and keeps there what only the far one knew. */
export function createLayeredStore(near: TextStore, far: TextStore): TextStore {
  return {
    get: async (hash) => {
      const known = await near.get(hash);
      if (known !== undefined) return known;
      const text = await far.get(hash);
      if (text !== undefined) near.set(hash, text);
      return text;
    },
    set: (hash, text) => {
      near.set(hash, text);
      far.set(hash, text);
    },
    close: () => {
      near.close();
      far.close();
    },
  };
}
