import { hash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createScript, type SharedRedis } from '../../redis.ts';
import type { Epoch, Epochs } from './epochs.ts';

/** How long an epoch is kept in Redis after it was made, in seconds: a week. The next one is a new one. */
const keptSeconds = 7 * 24 * 3600;

/** The lengths of the two parts of a value, in characters: a UUID, and a mark that names its key. */
const idLength = 36;
const markLength = 22;

/** What the names of all epochs in Redis begin with. */
const prefix = 'cache:epoch:';

/** How often a gateway tries to tell Redis of the ends of epochs that it could not tell, in milliseconds. */
const tellEveryMs = 200;

/** Most keys of which it is remembered that Redis could not be told, and most of those that the upstream takes. */
const mostRemembered = 10_000;

/**
 * Answers the epoch of a key and the replication id of the server. Makes an epoch if the key has none and is proven; replaces one
 * that is to end. A script with this first line and no flags runs only if it could write: while Redis refuses writes, because
 * it has no memory or is a replica, it could not be told of the end of an epoch, so that none may be used.
 *
 * A server gives itself a new replication id when it starts, and when it becomes a primary: what it has restored from a file, or
 * has had as a replica, may be older than what gateways have read from it or from another server before.
 */
const script = createScript(`#!lua
local known = redis.call('GET', KEYS[1])
local act = ARGV[2]
if (known and act == 'end') or (not known and ARGV[3] == 'proven') then
  known = ARGV[1]
  redis.call('SET', KEYS[1], known, 'EX', ARGV[4])
end
return {string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or '', known}`);

/** What the script does to a key that has an epoch. */
type Act = 'keep' | 'end';

/** The answer of the script. */
interface Told {
  readonly epoch: Epoch | undefined;
  /** True if the value was made for another key. */
  readonly isForeign: boolean;
}

/**
 * The epochs of keys, in a Redis that all gateways ask. An epoch is used only after Redis has it, and is put there once: so one
 * that Redis has lost never comes back. Only keys that the upstream has taken get one: those that a caller has invented leave
 * nothing there.
 */
export class RedisEpochs implements Epochs {
  readonly #redis: SharedRedis;
  readonly #upstream: string;
  readonly #proven = new LRUCache<string, true>({ max: mostRemembered });
  /** Keys whose epoch has ended while Redis could not be told, each with a mark of the last time. */
  readonly #unsent = new LRUCache<string, symbol>({ max: mostRemembered });
  /** True if it is about to tell Redis those. */
  #isTelling = false;

  /** `upstream` tells the keys of several upstreams in one Redis apart. */
  constructor(redis: SharedRedis, upstream: string) {
    this.#redis = redis;
    this.#upstream = upstream;
  }

  async current(sharingKey: string): Promise<Epoch | undefined> {
    // What was read before a write that Redis does not know of must not be used.
    if (this.#unsent.has(sharingKey)) return (await this.#end(sharingKey, false))?.epoch;
    const told = await this.#run(sharingKey, 'keep', false);
    // It was copied from the name of another key, where it may have been used before.
    return told?.isForeign === true ? (await this.#end(sharingKey, false))?.epoch : told?.epoch;
  }

  prove(sharingKey: string): void {
    this.#proven.set(sharingKey, true);
  }

  async renew(sharingKey: string): Promise<Epoch | undefined> {
    return (await this.#renew(sharingKey))?.epoch;
  }

  async #renew(sharingKey: string): Promise<Told | undefined> {
    const mark = Symbol(sharingKey);
    this.#unsent.set(sharingKey, mark);
    const told = await this.#end(sharingKey, true);
    if (told === undefined) this.#tellLater();
    return told;
  }

  /** A key that has no epoch in Redis has none anywhere: it gets one when it is used next. */
  async purge(sharingKey: string | undefined): Promise<number | undefined> {
    if (sharingKey === undefined) return this.#redis.unlinkAll(`${prefix}*`);
    return (await this.#renew(sharingKey)) === undefined ? undefined : 1;
  }

  /** Ends the epoch of a key; undefined if Redis could not be told. */
  async #end(sharingKey: string, isInsistent: boolean): Promise<Told | undefined> {
    const mark = this.#unsent.peek(sharingKey);
    const told = await this.#run(sharingKey, 'end', isInsistent);
    if (told !== undefined && this.#unsent.peek(sharingKey) === mark) this.#unsent.delete(sharingKey);
    return told;
  }

  async #run(sharingKey: string, act: Act, isInsistent: boolean): Promise<Told | undefined> {
    const name = `${prefix}${hash('sha256', `${this.#upstream} ${sharingKey}`, 'base64url')}`;
    const proven = this.#proven.get(sharingKey) === true ? 'proven' : '';
    const args = [this.#make(sharingKey), act, proven, keptSeconds];
    const answer = await this.#redis.run(script, [name], args, { isInsistent });
    if (!Array.isArray(answer)) return undefined;
    const parts: readonly unknown[] = answer;
    const [server, value] = parts;
    const isForeign = typeof value === 'string' && !this.#isOf(sharingKey, value);
    const isKnown = typeof value === 'string' && !isForeign && typeof server === 'string' && server !== '';
    return { epoch: isKnown ? `${server} ${value}` : undefined, isForeign };
  }

  /** Redis could not be told: until it is, other gateways go on with what they read before. */
  #tellLater(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setTimeout(() => void this.#tell(), tellEveryMs).unref();
  }

  async #tell(): Promise<void> {
    for (const sharingKey of [...this.#unsent.keys()]) if ((await this.#end(sharingKey, false)) === undefined) break;
    this.#isTelling = false;
    if (this.#unsent.size > 0 && !this.#redis.isClosed) this.#tellLater();
  }

  /** A value that was never used, and that is of this key only. */
  #make(sharingKey: string): string {
    const id = randomUUID();
    return id + this.#markOf(sharingKey, id);
  }

  /** True if a value was made for this key. */
  #isOf(sharingKey: string, value: string): boolean {
    const id = value.slice(0, idLength);
    return value.length === idLength + markLength && value.endsWith(this.#markOf(sharingKey, id));
  }

  /** A text that only a holder of the key can make. */
  #markOf(sharingKey: string, id: string): string {
    return hash('sha256', `${this.#upstream} ${sharingKey} ${id}`, 'base64url').slice(0, markLength);
  }
}
