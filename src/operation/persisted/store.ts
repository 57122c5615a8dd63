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

/** Texts that other processes know, too. */
export interface SharedTexts extends Pick<TextStore, 'get'> {
  /** Keeps a text on behalf of a caller, if there is room for it. */
  readonly set: (hash: string, text: string, callerName: string) => void;
}

/** Gives a text to other processes on behalf of a caller. */
export type Share = (callerName: string) => void;

/** What clients registered with this process, and what others share with it. `set` keeps a text for this process alone. */
export interface Registrations extends TextStore {
  /** Undefined if the other processes have been given the text a short time ago, or if there are none. */
  readonly shareOf: (hash: string, text: string) => Share | undefined;
}

/** A text that is in use is given to the other processes again after so long, in milliseconds. */
const sharedAgainMs = 60_000;

/** Asks the near store first, and keeps there what only the shared one knew. */
export function createRegistrations(near: TextStore, shared: SharedTexts | undefined): Registrations {
  if (shared === undefined) return { ...near, shareOf: () => undefined };
  /** Texts that were given to others, or came from them, a short time ago: since then they may have been lost there. */
  const known = new LRUCache<string, true>({ maxSize: most.entries, sizeCalculation: () => 1, ttl: sharedAgainMs });
  return {
    get: async (hash) => {
      const own = await near.get(hash);
      if (own !== undefined) return own;
      const text = await shared.get(hash);
      if (text === undefined) return undefined;
      near.set(hash, text);
      known.set(hash, true);
      return text;
    },
    set: (hash, text) => {
      near.set(hash, text);
      // A client sends a text if some process did not know it.
      known.delete(hash);
    },
    shareOf: (hash, text) => {
      if (known.has(hash)) return undefined;
      return (callerName) => {
        if (known.has(hash)) return;
        known.set(hash, true);
        shared.set(hash, text, callerName);
      };
    },
    close: () => near.close(),
  };
}
