import { hash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { CacheRedis, CommandOptions } from './cache-redis.ts';
import type { Epoch, Epochs } from './epochs.ts';
import { Renewals } from './renewals.ts';

/** How long an operation waits for the epoch of its key; without it, nothing of the cache is used. */
const reading: CommandOptions = { ms: 150, isInsistent: false };

/** How long a write waits until all gateways know of it: longer, because they would go on with what was before. */
const renewing: CommandOptions = { ms: 2000, isInsistent: true };

/** How long the epoch of a key is kept that is not written with, in seconds: a week. The next one is a new one. */
const keptSeconds = 7 * 24 * 3600;

/** Most keys of which it is remembered that a write could not be told. */
const mostRemembered = 10_000;

/** Takes up an epoch again, unless there is a later one. */
const undoScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3]) end`;

/** The epochs of keys, in a Redis that all gateways ask. */
export class RedisEpochs implements Epochs {
  readonly #redis: CacheRedis;
  readonly #upstream: string;
  /** Keys that were written with while Redis could not be told. */
  readonly #untold = new LRUCache<string, true>({ max: mostRemembered });
  readonly #renewals = new Renewals();

  /** `upstream` tells the keys of several upstreams in one Redis apart. */
  constructor(redis: CacheRedis, upstream: string) {
    this.#redis = redis;
    this.#upstream = upstream;
  }

  async current(sharingKey: string): Promise<Epoch | undefined> {
    const { server } = this.#redis;
    if (server === undefined) return undefined;
    // What was read before a write that Redis has not heard of must not be used.
    if (this.#untold.has(sharingKey)) return this.renew(sharingKey);
    const name = this.#nameOf(sharingKey);
    const read = async (redis: Redis): Promise<string | null> => {
      const known = await redis.get(name);
      if (known !== null) return known;
      const made = randomUUID();
      return (await redis.set(name, made, 'EX', keptSeconds, 'NX')) === null ? redis.get(name) : made;
    };
    const value = await this.#redis.ask('get', read, reading);
    return typeof value === 'string' ? epochOf(server, value) : undefined;
  }

  async renew(sharingKey: string): Promise<Epoch | undefined> {
    const { server } = this.#redis;
    const name = this.#nameOf(sharingKey);
    const made = randomUUID();
    const replace = (redis: Redis): Promise<string | null> => redis.set(name, made, 'EX', keptSeconds, 'GET');
    const before = await this.#redis.ask('set', replace, renewing);
    if (before === undefined || server === undefined) {
      this.#untold.set(sharingKey, true);
      return undefined;
    }
    this.#untold.delete(sharingKey);
    if (before !== null) this.#renewals.note(made, before);
    return epochOf(server, made);
  }

  undo(sharingKey: string, renewed: Epoch): void {
    const value = renewed.split(' ')[1] ?? '';
    const before = this.#renewals.undo(value);
    if (before === undefined) return;
    const name = this.#nameOf(sharingKey);
    const take = (redis: Redis): Promise<unknown> => redis.eval(undoScript, 1, name, value, before, keptSeconds);
    void this.#redis.ask('eval', take, renewing);
  }

  #nameOf(sharingKey: string): string {
    return `cache:epoch:${hash('sha256', `${this.#upstream} ${sharingKey}`, 'base64url')}`;
  }
}

/** What a server has restored from a file may be older than what it knew: each of its processes has epochs of its own. */
function epochOf(server: string, value: string): Epoch {
  return `${server} ${value}`;
}
