import { hash, randomUUID } from 'node:crypto';
import { type Log, LogThrottle } from '../../log.ts';
import { createScript, type SharedRedis } from '../../redis.ts';
import { KeyMap } from '../key-map.ts';
import type { Epoch, Epochs } from '../read-your-writes.ts';

/** The lifetime of an epoch in Redis, in seconds. After that the key gets a new one. */
const keptSeconds = 7 * 24 * 3600;

/** The interval at which Redis is told again of ended epochs, in milliseconds. */
const retryMs = 200;

/**
 * Returns the replication id of the server and the epoch of a key. First makes an epoch if the key has none and is
 * proven, or replaces the epoch if it is to end. Because the script starts with `#!lua` and has no flags, a Redis that
 * takes no writes refuses it: a replica, or a server that is out of memory. Such a Redis could not be told of the end
 * of an epoch, so its epochs must not be used.
 *
 * The replication id makes the epochs of a server differ from earlier ones. A server gives itself a new id when it
 * starts and when it becomes a primary. Its data then comes from a file or from the former primary, and may be
 * older than what gateways have already read.
 */
const script = createScript(`#!lua
local known = redis.call('GET', KEYS[1])
if (known and ARGV[2] == 'end') or (not known and ARGV[3] == 'proven') then
  known = ARGV[1]
  redis.call('SET', KEYS[1], known, 'EX', ARGV[4])
end
return {string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or '', known}`);

/** The answer of the script: the epoch, if the key has one that may be used. */
interface Reply {
  readonly epoch: Epoch | undefined;
}

/**
 * The epochs of keys, in a Redis that all gateways ask. A gateway uses an epoch only after Redis has stored it, and
 * none is stored twice, so an epoch that Redis has lost never comes back. Only keys that the upstream has accepted have
 * epochs, so invented keys leave nothing in Redis.
 */
export class RedisEpochs implements Epochs {
  readonly #redis: SharedRedis;
  /** The prefix of the names of this upstream's epochs: several upstreams may share one Redis. */
  readonly #prefix: string;
  readonly #log: Log;
  readonly #throttle = new LogThrottle();
  /**
   * Keys whose epoch has ended, though Redis may not know it yet. Each end has a symbol of its own: if another end
   * follows while Redis is told of the first, the key stays here.
   */
  readonly #unsent = new KeyMap<symbol>();
  /** True while a retry is scheduled or running. */
  #isRetrying = false;

  constructor(redis: SharedRedis, upstreamUrl: string, log: Log) {
    this.#redis = redis;
    this.#prefix = `cache:epoch:${hash('sha256', upstreamUrl, 'base64url')}:`;
    this.#log = log;
  }

  async current(sharingKey: string, isProven: boolean): Promise<Epoch | undefined> {
    // Answers that were kept under an ended epoch must not be used, even if Redis does not know its end yet.
    const isUnsent = this.#unsent.get(sharingKey) !== undefined;
    const reply = isUnsent ? this.#end(sharingKey, isProven, false) : this.#run(sharingKey, isProven, 'keep', false);
    return (await reply)?.epoch;
  }

  async renew(sharingKey: string, isProven: boolean): Promise<Epoch | undefined> {
    return (await this.#renew(sharingKey, isProven))?.epoch;
  }

  async #renew(sharingKey: string, isProven: boolean): Promise<Reply | undefined> {
    const mark = Symbol(sharingKey);
    this.#unsent.set(sharingKey, mark, isProven);
    const reply = await this.#end(sharingKey, isProven, true);
    if (reply === undefined) this.#retryLater();
    return reply;
  }

  /**
   * Ends the epoch of a key, or of all keys. All epochs are ended by removing them: each operation asks Redis, so each
   * key gets a new one at its next use.
   */
  async purge(sharingKey: string | undefined): Promise<number | undefined> {
    if (sharingKey === undefined) return this.#redis.unlinkAll(`${this.#prefix}*`);
    return (await this.#renew(sharingKey, false)) && 1;
  }

  /** Ends the epoch of a key; undefined if Redis could not be told. */
  async #end(sharingKey: string, isProven: boolean, mustSend: boolean): Promise<Reply | undefined> {
    const mark = this.#unsent.get(sharingKey);
    const reply = await this.#run(sharingKey, isProven, 'end', mustSend);
    if (reply !== undefined && this.#unsent.get(sharingKey) === mark) this.#unsent.delete(sharingKey);
    return reply;
  }

  async #run(
    sharingKey: string,
    isProven: boolean,
    action: 'keep' | 'end',
    mustSend: boolean,
  ): Promise<Reply | undefined> {
    const name = this.#prefix + hash('sha256', sharingKey, 'base64url');
    const args = [randomUUID(), action, isProven ? 'proven' : '', keptSeconds];
    const answer = await this.#redis.run(script, [name], args, { mustSend });
    if (!Array.isArray(answer)) return undefined;
    const reply: readonly unknown[] = answer;
    const [server, value] = reply;
    if (server === '' && this.#throttle.mayLogFirst('no replication id'))
      this.#log('warn', 'Redis shows no master_replid: no answers are cached');
    const isKnown = typeof value === 'string' && typeof server === 'string' && server !== '';
    // Makes the epochs of two keys differ, even if a value in Redis was copied from one to the other.
    return { epoch: isKnown ? `${server} ${sharingKey} ${value}` : undefined };
  }

  /** Schedules another try. Until Redis knows that the epoch has ended, other gateways go on using its answers. */
  #retryLater(): void {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    setTimeout(() => void this.#retry(), retryMs).unref();
  }

  async #retry(): Promise<void> {
    for (const sharingKey of this.#unsent.keys) if ((await this.#end(sharingKey, false, false)) === undefined) break;
    this.#isRetrying = false;
    if (this.#unsent.size > 0 && !this.#redis.isClosed) this.#retryLater();
  }
}
