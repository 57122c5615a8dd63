import { type Redis, ReplyError } from 'ioredis';
import { LogThrottle } from '../../log.ts';
import { connectRedis, disconnectRedis, type RedisOptions } from '../../redis.ts';
import { hashOf } from './ids.ts';
import type { SharedTexts } from './store.ts';

/** A Redis that several gateways share, and how texts are kept there. */
export interface RedisStoreOptions extends RedisOptions {
  /** How long a text is kept after it was last registered, in seconds. */
  readonly ttlSeconds: number;
}

/** Longest time that a request waits for Redis, in milliseconds: the client can send the text instead. */
const timeoutMs = 150;

/**
 * A command that Redis did not answer in time is left alone that long, in milliseconds: requests would only queue for it.
 * Reads and writes apart, and not if Redis answers that it refuses a command.
 */
const restMs = 1000;

/** Most commands that wait for an answer at a time. */
const mostWaiting = 1000;

/** Bytes that a text takes up in Redis beside its own, about. */
const entryBytes = 200;

/**
 * Most bytes that are kept for one caller, and for all together. They are counted for as long as a text is kept, from the
 * first one on, so that at most twice as many are there at a time.
 */
const mostBytes = { caller: 4 * 2 ** 20, all: 32 * 2 ** 20 } as const;

/**
 * Keeps texts in Redis, under the keys that Apollo Server uses (`apq:<hash>`). A Redis that is down, slow or full is a
 * miss, never an error. One server: a Redis Cluster refuses most keys (`MOVED`), and Sentinel is not asked.
 */
export function createRedisStore({ ttlSeconds, ...options }: RedisStoreOptions): SharedTexts {
  const redis = connectRedis(options, timeoutMs);
  const { log, failures } = options;
  const read = createRun(redis, (error) => failures.note(error, 'get'));
  const write = createRun(redis, (error) => failures.note(error, 'set'));
  const unkept = new LogThrottle();
  const hasRoom = async (bound: keyof typeof mostBytes, name: string, bytes: number): Promise<boolean> => {
    // First, so that a counter is never without an end.
    await redis.set(name, 0, 'EX', ttlSeconds, 'NX');
    if ((await redis.incrby(name, bytes)) <= mostBytes[bound]) return true;
    if (unkept.takes(bound)) log('warn', 'a document is not kept in Redis', { bound, bytes: mostBytes[bound] });
    return false;
  };
  const keep = async (hash: string, text: string, callerName: string): Promise<void> => {
    if ((await redis.expire(`apq:${hash}`, ttlSeconds)) === 1) return;
    const bytes = Buffer.byteLength(text) + entryBytes;
    if (!(await hasRoom('caller', `apq:bytes:${callerName}`, bytes))) return;
    if (await hasRoom('all', 'apq:bytes', bytes)) await redis.set(`apq:${hash}`, text, 'EX', ttlSeconds);
  };
  return {
    get: async (hash) => {
      const text = await read(() => redis.get(`apq:${hash}`));
      // Others may write to the same Redis.
      return typeof text === 'string' && hashOf(text) === hash ? text : undefined;
    },
    set: (hash, text, callerName) => void write(() => keep(hash, text, callerName)),
    close: () => disconnectRedis(redis),
  };
}

/** A function that runs commands of one kind while Redis answers them; they are undefined while it does not. */
function createRun(
  redis: Redis,
  failed: (error: unknown) => void,
): <T>(command: () => Promise<T>) => Promise<T | undefined> {
  let waiting = 0;
  let restsUntil = 0;
  return async (command) => {
    if (redis.status !== 'ready' || waiting >= mostWaiting || performance.now() < restsUntil) return undefined;
    waiting += 1;
    try {
      return await command();
    } catch (error) {
      failed(error);
      if (!(error instanceof ReplyError)) restsUntil = performance.now() + restMs;
      return undefined;
    } finally {
      waiting -= 1;
    }
  };
}
