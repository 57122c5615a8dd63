import { hash, randomUUID } from 'node:crypto';
import { RecentMap } from '../../recent-map.ts';
import { createScript, type SharedRedis } from '../../redis.ts';
import type { Epoch, Epochs } from '../epochs.ts';

/** The lifetime of an epoch in Redis, in seconds: a week. After that the key gets a new one. */
const keptSeconds = 7 * 24 * 3600;

/** The lengths of the two parts of a value, in characters: a UUID, and a mark that names its key. */
const idLength = 36;
const markLength = 22;

/** The prefix of the names of all epochs in Redis. */
const prefix = 'cache:epoch:';

/** The interval at which a gateway tries again to tell Redis of ended epochs, in milliseconds. */
const tellEveryMs = 200;

/** The most keys in each of two lists: proven keys, and keys whose epoch has ended while Redis was not told yet. */
const mostRemembered = 10_000;

/**
 * Answers the replication id of the server and the epoch of a key. Makes an epoch if the key has none and is proven, and
 * replaces one that is to end. The script starts with `#!lua` and has no flags, so a Redis that takes no writes refuses it:
 * one that is out of memory, or a replica, could not be told of the end of an epoch, so its epochs must not be used.
 *
 * A server gives itself a new replication id when it starts and when it becomes a primary. Its data, restored from a file or
 * copied as a replica, may be older than what gateways have read from it or from another server before.
 */
const script = createScript(`#!lua
local known = redis.call('GET', KEYS[1])
local act = ARGV[2]
if (known and act == 'end') or (not known and ARGV[3] == 'proven') then
  known = ARGV[1]
  redis.call('SET', KEYS[1], known, 'EX', ARGV[4])
end
return {string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or '', known}`);

/** The action of the script on a key that has an epoch. */
type Act = 'keep' | 'end';

/** The answer of the script. */
interface Told {
  readonly epoch: Epoch | undefined;
  /** True if the value was made for another key. */
  readonly isForeign: boolean;
}

/**
 * The epochs of keys, in a Redis that all gateways ask. An epoch is used only after Redis has it, and is stored once, so an
 * epoch that Redis has lost never comes back. Only keys that the upstream has accepted get one: keys that a caller invents
 * leave nothing in Redis.
 */
export class RedisEpochs implements Epochs {
  readonly #redis: SharedRedis;
  readonly #upstream: string;
  readonly #proven = new RecentMap<string, true>({ entries: mostRemembered });
  /** Keys whose epoch has ended without Redis knowing. Each has a mark of its latest end. */
  readonly #unsent = new RecentMap<string, symbol>({ entries: mostRemembered });
  /** True while a retry is scheduled or running. */
  #isTelling = false;

  /** `upstream` is part of every name, because several upstreams may share one Redis. */
  constructor(redis: SharedRedis, upstream: string) {
    this.#redis = redis;
    this.#upstream = upstream;
  }

  async current(sharingKey: string): Promise<Epoch | undefined> {
    // Answers from before a write that Redis does not know of must not be used.
    if (this.#unsent.has(sharingKey)) return (await this.#end(sharingKey, false))?.epoch;
    const told = await this.#run(sharingKey, 'keep', false);
    // The value was copied from another key, which may have used it before.
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

  /**
   * Ends the epoch of a key, or of all keys. A key without an epoch in Redis has none at any gateway: it gets one at its
   * next use.
   */
  async purge(sharingKey: string | undefined): Promise<number | undefined> {
    if (sharingKey === undefined) return this.#redis.unlinkAll(`${prefix}*`);
    return (await this.#renew(sharingKey)) === undefined ? undefined : 1;
  }

  /** Ends the epoch of a key; undefined if Redis could not be told. */
  async #end(sharingKey: string, mustSend: boolean): Promise<Told | undefined> {
    const mark = this.#unsent.peek(sharingKey);
    const told = await this.#run(sharingKey, 'end', mustSend);
    if (told !== undefined && this.#unsent.peek(sharingKey) === mark) this.#unsent.delete(sharingKey);
    return told;
  }

  async #run(sharingKey: string, act: Act, mustSend: boolean): Promise<Told | undefined> {
    const name = `${prefix}${hash('sha256', `${this.#upstream} ${sharingKey}`, 'base64url')}`;
    const proven = this.#proven.get(sharingKey) === true ? 'proven' : '';
    const args = [this.#make(sharingKey), act, proven, keptSeconds];
    const answer = await this.#redis.run(script, [name], args, { mustSend });
    if (!Array.isArray(answer)) return undefined;
    const parts: readonly unknown[] = answer;
    const [server, value] = parts;
    const isForeign = typeof value === 'string' && !this.#isOf(sharingKey, value);
    const isKnown = typeof value === 'string' && !isForeign && typeof server === 'string' && server !== '';
    return { epoch: isKnown ? `${server} ${value}` : undefined, isForeign };
  }

  /** Schedules another try. Until Redis knows of the end, other gateways use the answers from before. */
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

  /** A new value that is unique and belongs to this key only. */
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
