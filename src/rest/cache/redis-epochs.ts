import { hash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { CacheRedis, CommandOptions } from './cache-redis.ts';
import type { Epoch, Epochs } from './epochs.ts';
import { Renewals } from './renewals.ts';

/** How long an operation waits for the epoch of its key; without it, nothing of the cache is used. */
const reading: CommandOptions = { ms: 150, isInsistent: false };

/** How long a write waits at most until all gateways know of it, in milliseconds: they would go on with what was before. */
const renewingMs = 2000;

/** It waits before and after, and has to be sent and answered in between. */
const partOfDeadline = 1 / 4;

/** How long the epoch of a proven key is kept that is not written with, in seconds: a week. The next one is a new one. */
const keptSeconds = 7 * 24 * 3600;

/**
 * How long an epoch is kept that a write has made, in seconds, unless its key is proven: any caller can invent keys. A
 * gateway that has read before the write can make its own epoch known for a shorter time only.
 */
const briefSeconds = 60;
const provableMs = 30_000;

/** What a value consists of: a UUID, and a mark that names its key. In characters. */
const idLength = 36;
const markLength = 22;

/** How often a gateway tries to tell Redis of writes that it could not tell, in milliseconds. */
const tellEveryMs = 200;

/** Most keys of which it is remembered that a write could not be told, and of those that may be proven. */
const mostRemembered = 10_000;

/** Replaces the epoch of a key, for no shorter time than it was kept. Answers the one before. */
const renewScript = `
local before = redis.call('GET', KEYS[1])
local seconds = tonumber(ARGV[2])
if before then seconds = math.max(seconds, redis.call('TTL', KEYS[1])) end
redis.call('SET', KEYS[1], ARGV[1], 'EX', seconds)
return before`;

/**
 * Reads an epoch. A script with this first line and no flags is run only if it could write (Redis 7): while Redis refuses writes,
 * because it has no memory or is a replica, none could be told, so that nothing of the cache may be used.
 */
const readScript = `#!lua
return redis.call('GET', KEYS[1])`;

/** Makes an epoch known, or keeps it for longer, unless there is another one. */
const proveScript = `
local known = redis.call('GET', KEYS[1])
if not known or known == ARGV[1] then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) end`;

/** Replaces the epoch of a key that has one. */
const refuseScript = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL') end`;

/** Takes up an epoch again, unless there is a later one. */
const undoScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL') end`;

/**
 * The epochs of keys, in a Redis that all gateways ask. A key that has none there gets one of its own in each gateway, which
 * the first of them that keeps an answer makes known. So keys that a caller has invented leave nothing there by reading.
 */
export class RedisEpochs implements Epochs {
  readonly #redis: CacheRedis;
  readonly #upstream: string;
  /** What others have to know before anything follows from it. */
  readonly #renewing: CommandOptions;
  /** Keys that were written with while Redis could not be told. */
  readonly #untold = new LRUCache<string, true>({ max: mostRemembered });
  /** Whether it is about to tell Redis those. */
  #isTelling = false;
  readonly #renewals = new Renewals();
  /** What this gateway has made lately for keys that may not be proven. */
  readonly #provable = new LRUCache<string, string>({ max: mostRemembered, ttl: provableMs });

  /** `upstream` tells the keys of several upstreams in one Redis apart; `deadlineMs` is how long a write may take in all. */
  constructor(redis: CacheRedis, upstream: string, deadlineMs: number) {
    this.#redis = redis;
    this.#upstream = upstream;
    this.#renewing = { ms: Math.min(renewingMs, deadlineMs * partOfDeadline), isInsistent: true };
  }

  async current(sharingKey: string): Promise<Epoch | undefined> {
    const { server } = this.#redis;
    if (server === undefined) return undefined;
    // What was read before a write that Redis does not know of must not be used.
    if (this.#untold.has(sharingKey)) return this.#renew(sharingKey, reading);
    const name = this.#nameOf(sharingKey);
    const known = await this.#redis.ask('get', (redis) => this.#read(redis, name), reading);
    if (known === undefined) return undefined;
    if (known === null) return epochOf(server, this.#propose(sharingKey));
    // It was copied from the name of another key, where it may have been used before.
    if (!this.#isOf(sharingKey, known)) return this.#renew(sharingKey, reading);
    return epochOf(server, known);
  }

  prove(sharingKey: string, epoch: Epoch): void {
    const { server } = this.#redis;
    const value = this.#provable.get(sharingKey);
    if (server === undefined || value === undefined || epoch !== epochOf(server, value)) return;
    this.#provable.delete(sharingKey);
    const name = this.#nameOf(sharingKey);
    void this.#redis.ask('eval', (redis) => redis.eval(proveScript, 1, name, value, keptSeconds), reading);
  }

  refuse(sharingKey: string): void {
    this.#provable.delete(sharingKey);
    void this.#replaceKnown(sharingKey);
  }

  renew(sharingKey: string): Promise<Epoch | undefined> {
    return this.#renew(sharingKey, this.#renewing);
  }

  undo(sharingKey: string, renewed: Epoch): void {
    const value = renewed.split(' ')[1] ?? '';
    const before = this.#renewals.undo(value);
    if (before === undefined) return;
    const name = this.#nameOf(sharingKey);
    const take = (redis: Redis): Promise<unknown> => redis.eval(undoScript, 1, name, value, before);
    void this.#redis.ask('eval', take, this.#renewing);
  }

  async #renew(sharingKey: string, sending: CommandOptions): Promise<Epoch | undefined> {
    const { server } = this.#redis;
    const name = this.#nameOf(sharingKey);
    const made = this.#make(sharingKey);
    this.#provable.set(sharingKey, made);
    const replace = (redis: Redis): Promise<unknown> => redis.eval(renewScript, 1, name, made, briefSeconds);
    const before = await this.#redis.ask('eval', replace, sending);
    if (before === undefined || server === undefined) {
      this.#rememberUntold(sharingKey);
      return undefined;
    }
    this.#untold.delete(sharingKey);
    if (typeof before === 'string') this.#renewals.note(made, before);
    return epochOf(server, made);
  }

  async #replaceKnown(sharingKey: string): Promise<void> {
    const name = this.#nameOf(sharingKey);
    const replace = async (redis: Redis): Promise<true> => {
      await redis.eval(refuseScript, 1, name, this.#make(sharingKey));
      return true;
    };
    if ((await this.#redis.ask('eval', replace, this.#renewing)) === undefined) this.#rememberUntold(sharingKey);
  }

  /** The epoch that this gateway uses while none is known. */
  #propose(sharingKey: string): string {
    const known = this.#provable.get(sharingKey);
    if (known !== undefined) return known;
    const made = this.#make(sharingKey);
    this.#provable.set(sharingKey, made);
    return made;
  }

  /** The value of a name; null without one. */
  async #read(redis: Redis, name: string): Promise<string | null> {
    if (!this.#redis.knowsShebang) return redis.get(name);
    const value = await redis.eval(readScript, 1, name);
    return typeof value === 'string' ? value : null;
  }

  /** Redis could not be told of a write with a key: until it is, others go on with what they read before. */
  #rememberUntold(sharingKey: string): void {
    this.#untold.set(sharingKey, true);
    if (this.#isTelling) return;
    this.#isTelling = true;
    setTimeout(() => void this.#tellUntold(), tellEveryMs).unref();
  }

  async #tellUntold(): Promise<void> {
    for (const sharingKey of [...this.#untold.keys()])
      if ((await this.#renew(sharingKey, reading)) === undefined) break;
    this.#isTelling = false;
    const [next] = this.#untold.keys();
    if (next !== undefined && !this.#redis.isClosed) this.#rememberUntold(next);
  }

  /** A value that was never used, and that is of this key only. */
  #make(sharingKey: string): string {
    const id = randomUUID();
    return id + this.#markOf(sharingKey, id);
  }

  /** Whether a value was made for this key. */
  #isOf(sharingKey: string, value: string): boolean {
    const id = value.slice(0, idLength);
    return value.length === idLength + markLength && value.endsWith(this.#markOf(sharingKey, id));
  }

  /** A text that only a holder of the key can make. */
  #markOf(sharingKey: string, id: string): string {
    return hash('sha256', `${this.#upstream} ${sharingKey} ${id}`, 'base64url').slice(0, markLength);
  }

  #nameOf(sharingKey: string): string {
    return `cache:epoch:${hash('sha256', `${this.#upstream} ${sharingKey}`, 'base64url')}`;
  }
}

/** What a server has restored from a file may be older than what it knew: each of its processes has epochs of its own. */
function epochOf(server: string, value: string): Epoch {
  return `${server} ${value}`;
}
