import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.ts';
import { RecentMap } from '../../recent-map.ts';
import { createScript, type SharedRedis } from '../../redis.ts';
import { RequestError } from '../request-error.ts';
import { type DocumentId, hashMismatch, hashOf, isHash, unknownDocument } from './ids.ts';

/** Texts that clients registered, by their SHA-256. A store may forget any text at any time, and never fails. */
export interface TextStore {
  /** Undefined if the text is unknown. */
  readonly get: (hash: string) => MaybePromise<string | undefined>;
  readonly set: (hash: string, text: string) => void;
}

/** The most that one process keeps. A character counts as two bytes. */
const most = { entries: 10_000, bytes: 32 * 2 ** 20 };

/** Keeps in memory the texts that were used most recently. */
export function createMemoryStore(): TextStore {
  const texts = new RecentMap<string, string>({
    entries: most.entries,
    size: most.bytes,
    sizeOf: (text, hash) => (text.length + hash.length) * 2,
  });
  return {
    get: (hash) => texts.get(hash),
    set: (hash, text) => void texts.set(hash, text),
  };
}

/** Counters of automatic persisted queries (https://www.apollographql.com/docs/apollo-server/performance/apq). */
export interface AutomaticCounts {
  hits: number;
  misses: number;
  registrations: number;
}

/** Texts that several processes share. */
export interface SharedTexts extends Pick<TextStore, 'get'> {
  /** Stores a text on behalf of a caller, if there is room. */
  readonly set: (hash: string, text: string, callerName: string) => void;
}

/** Publishes a text to other processes on behalf of a caller. */
export type Publish = (callerName: string) => void;

/** The texts of this process, and those that other processes share. `set` stores a text in this process only. */
export interface Registrations extends TextStore {
  /**
   * Makes the function that publishes a text; undefined if it was published or received recently, or if there are no
   * other processes.
   */
  readonly publishOf: (hash: string, text: string) => Publish | undefined;
}

/**
 * Finds the text that a client registered under an id. Throws, or rejects with, a RequestError if there is none. Without
 * a `store`, automatic persisted queries are off.
 */
export function registeredText(
  { id, automatic }: DocumentId,
  store: Registrations | undefined,
  counts: AutomaticCounts,
): MaybePromise<string> {
  if (store === undefined)
    throw automatic ? new RequestError('automaticOff', 'PersistedQueryNotSupported') : unknownDocument(id);
  return mapMaybePromise(isHash(id) ? store.get(id) : undefined, (text) => {
    counts[text === undefined ? 'misses' : 'hits'] += 1;
    if (text !== undefined) return text;
    throw automatic ? new RequestError('automaticMiss', 'PersistedQueryNotFound') : unknownDocument(id);
  });
}

/** Refuses a text whose SHA-256 is not the id that came with it. An id that is no hash names no text of a client. */
export function refuseMismatch(text: string, { id, automatic }: DocumentId): void {
  if (!isHash(id) && !automatic) throw unknownDocument(id);
  if (hashOf(text) !== id) throw hashMismatch();
}

/** The time after which a text in use is published again, in milliseconds. */
const publishedAgainMs = 60_000;

/** Combines two stores: texts that only `shared` has are copied to `near`. */
export function createRegistrations(near: TextStore, shared: SharedTexts | undefined): Registrations {
  if (shared === undefined) return { ...near, publishOf: () => undefined };
  /** Texts that were published or received recently. After some time, the other processes may have lost them. */
  const known = new RecentMap<string, true>({ entries: most.entries, forMs: publishedAgainMs });
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
      // A client sends a text only if some process does not know it, so the text may have to be published again.
      known.delete(hash);
    },
    publishOf: (hash, text) => {
      if (known.has(hash)) return undefined;
      return (callerName) => {
        known.set(hash, true);
        shared.set(hash, text, callerName);
      };
    },
  };
}

/** The time that Redis keeps a text after it was last stored, in seconds: a week. */
const keptSeconds = 7 * 24 * 3600;

/** The approximate bytes that Redis needs for a text beside the text itself. */
const entryBytes = 200;

/** The number of partitions in Redis. All texts of a caller are in one of them, and can evict only texts in it. */
const partitions = 8;

/** The most bytes of one partition. */
const partitionBytes = 4 * 2 ** 20;

/**
 * Records a text in its partition, and returns the hashes of the texts that it evicts: those stored least recently. A
 * partition is a sorted set of hashes and sizes, scored by the time of storing. The score of the member `bytes` is the
 * negative sum of the sizes.
 */
const recordScript = createScript(`
local time = redis.call('TIME')
local evicted = {}
if redis.call('ZADD', KEYS[1], time[1] + time[2] / 1000000, ARGV[1]) == 1 then
  local left = ${partitionBytes} + redis.call('ZINCRBY', KEYS[1], -string.match(ARGV[1], '%d+$'), 'bytes')
  while left < 0 do
    local oldest = redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf', 'LIMIT', 0, 1)[1]
    local hash, size = string.match(oldest, '^(%S+) (%d+)$')
    redis.call('ZREM', KEYS[1], oldest)
    left = ${partitionBytes} + redis.call('ZINCRBY', KEYS[1], size, 'bytes')
    evicted[#evicted + 1] = hash
  end
end
redis.call('EXPIRE', KEYS[1], ${keptSeconds})
return evicted`);

/**
 * Keeps texts in Redis, under the keys that Apollo Server uses (`apq:<hash>`). A Redis that is down, slow or full
 * causes a miss and never an error.
 */
export function createRedisStore(redis: SharedRedis): SharedTexts {
  const store = async (hashOfText: string, text: string, callerName: string): Promise<void> => {
    const bytes = Buffer.byteLength(text) + entryBytes;
    if (bytes > partitionBytes) return;
    const partition = Number.parseInt(hashOf(callerName).slice(0, 8), 16) % partitions;
    const evicted = await redis.run(recordScript, [`apq:room:${partition}`], [`${hashOfText} ${bytes}`]);
    if (!Array.isArray(evicted)) return;
    void redis.ask('set', [`apq:${hashOfText}`, text, 'EX', keptSeconds]);
    for (const other of evicted) void redis.ask('unlink', [`apq:${String(other)}`]);
  };
  return {
    get: async (hashOfText) => {
      const text = await redis.ask('get', [`apq:${hashOfText}`]);
      // Other programs may write to the same Redis.
      return typeof text === 'string' && hashOf(text) === hashOfText ? text : undefined;
    },
    set: (hashOfText, text, callerName) => void store(hashOfText, text, callerName),
  };
}
