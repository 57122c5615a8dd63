import { Redis } from 'ioredis';
import { hashOf } from './ids.ts';
import type { Log } from './list.ts';
import type { TextStore } from './store.ts';

/** A Redis that several gateways share. */
export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with user and password if it needs them. */
  readonly url: string;
  /** How long a text is kept after it was last registered, in seconds. */
  readonly ttlSeconds: number;
  readonly log: Log;
}

/** Longest time that a request waits for Redis, in milliseconds: the client can send the text instead. */
const patienceMs = 150;

/** After a failure Redis is left alone that long, in milliseconds: requests would only queue for it. */
const restMs = 1000;

/** Most commands that wait for an answer at a time. */
const mostWaiting = 1000;

/**
 * Keeps texts in Redis, under the keys that Apollo Server uses (`apq:<hash>`). A Redis that is down, slow or full is a
 * miss, never an error.
 */
export function createRedisStore({ url, ttlSeconds, log }: RedisStoreOptions): TextStore {
  const redis = connect(url, log);
  const ask = patiently(redis);
  return {
    get: async (hash) => {
      const text = await ask(() => redis.get(`apq:${hash}`));
      // Others may write to the same Redis.
      return typeof text === 'string' && hashOf(text) === hash ? text : undefined;
    },
    set: (hash, text) => void ask(() => redis.set(`apq:${hash}`, text, 'EX', ttlSeconds)),
    close: () => {
      // What follows is no news.
      redis.removeAllListeners('close');
      redis.disconnect();
    },
  };
}

function connect(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    // Without a connection commands fail at once instead of queueing.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: patienceMs,
    connectTimeout: 2000,
    // A connection that stopped answering is given up, with all that waits for it.
    socketTimeout: 5000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
  });
  let state: 'up' | 'down' | undefined;
  const enter = (next: 'up' | 'down', reason: string): void => {
    if (state !== next) log(next === 'up' ? 'info' : 'warn', `Redis is ${next}`, { reason });
    state = next;
  };
  redis.on('ready', () => enter('up', 'connected'));
  redis.on('error', (error: Error) => enter('down', error.message));
  redis.on('close', () => enter('down', 'connection closed'));
  return redis;
}

/** Runs commands while Redis answers, and answers undefined for it while it does not. */
function patiently(redis: Redis): <T>(command: () => Promise<T>) => Promise<T | undefined> {
  let waiting = 0;
  let restsUntil = 0;
  return async (command) => {
    if (redis.status !== 'ready' || waiting >= mostWaiting || performance.now() < restsUntil) return undefined;
    waiting += 1;
    try {
      return await command();
    } catch {
      restsUntil = performance.now() + restMs;
      return undefined;
    } finally {
      waiting -= 1;
    }
  };
}
