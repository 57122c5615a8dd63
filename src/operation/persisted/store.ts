import { RecentMap } from '../../recent-map.ts';

/** The texts that clients registered, by their SHA-256. A store may forget any text at any time, and never fails. */
export interface TextStore {
  /** Finds a text; undefined if it is unknown. A store that knows the answer at once returns no promise. */
  readonly get: (hash: string) => string | undefined | Promise<string | undefined>;
  readonly set: (hash: string, text: string) => void;
}

/** The most texts and the most bytes that one process keeps. A character counts as two bytes. */
const most = { entries: 10_000, bytes: 32 * 2 ** 20 };

/** Keeps the most recently used texts in memory. */
export function createMemoryStore({ entries, bytes } = most): TextStore {
  const texts = new RecentMap<string, string>({
    entries,
    size: bytes,
    sizeOf: (text, hash) => (text.length + hash.length) * 2,
  });
  return {
    get: (hash) => texts.get(hash),
    set: (hash, text) => void texts.set(hash, text),
  };
}

/** Texts that several processes share. */
export interface SharedTexts extends Pick<TextStore, 'get'> {
  /** Stores a text on behalf of a caller, if there is room. */
  readonly set: (hash: string, text: string, callerName: string) => void;
}

/** Shares a text with other processes on behalf of a caller. */
export type Share = (callerName: string) => void;

/**
 * The texts that clients registered with this process, and those that other processes share. `set` stores a text in this
 * process only.
 */
export interface Registrations extends TextStore {
  /**
   * Makes the function that shares a text; undefined if the text was shared recently, or if there are no other processes.
   */
  readonly shareOf: (hash: string, text: string) => Share | undefined;
}

/** The interval at which a text in use is shared again, in milliseconds. */
const sharedAgainMs = 60_000;

/** Combines two stores. The near store is read first. Texts that only the shared store has are copied into it. */
export function createRegistrations(near: TextStore, shared: SharedTexts | undefined): Registrations {
  if (shared === undefined) return { ...near, shareOf: () => undefined };
  /** Texts that were shared or received recently. After some time, the other processes may have lost them. */
  const known = new RecentMap<string, true>({ entries: most.entries, forMs: sharedAgainMs });
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
      // A client sends a text only if some process does not know it.
      known.delete(hash);
    },
    shareOf: (hash, text) => {
      if (known.has(hash)) return undefined;
      return (callerName) => {
        known.set(hash, true);
        shared.set(hash, text, callerName);
      };
    },
  };
}
