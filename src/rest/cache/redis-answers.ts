import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SharedRedis } from '../../redis.ts';
import type { Epoch } from './epochs.ts';
import { open, seal, sealingKeyOf } from './sealed-text.ts';

/** The place of a shared answer, and the key that encrypts it. Names in Redis are made of hashes of it. */
export interface SharedPlace {
  readonly upstreamKey: string;
  readonly sharingKey: string;
  readonly epoch: Epoch;
  /** The name of the answer: its epoch, its format, and the path and query. */
  readonly name: string;
}

/** A text from Redis, and its age in milliseconds. */
export interface RemoteText {
  readonly text: string;
  readonly ageMs: number;
}

/** The longest text that is shared, in characters. Longer ones stay in the process that has read them. */
const longestText = 2 ** 20;

/** The sealed text: the milliseconds for which it is kept, which may differ between gateways, and then the answer. */
const keptPattern = /^(\d+) (.*)$/s;

/** The most keys that are remembered: more than are used within a short time. */
const mostKeys = 1000;

/** The answers that gateways share, encrypted. A text that cannot be opened, for whatever reason, is a miss. */
export class RedisAnswers {
  readonly #redis: SharedRedis;
  readonly #upstream: string;
  readonly #keys = new LRUCache<string, Buffer>({ max: mostKeys });

  /** `upstream` is part of every name, because several upstreams may share one Redis. */
  constructor(redis: SharedRedis, upstream: string) {
    this.#redis = redis;
    this.#upstream = upstream;
  }

  async find(place: SharedPlace): Promise<RemoteText | undefined> {
    const name = this.#nameOf(place);
    const asked = [this.#redis.ask('get', [name], { isBinary: true }), this.#redis.ask('pttl', [name])];
    const [sealed, leftMs] = await Promise.all(asked);
    if (!Buffer.isBuffer(sealed) || typeof leftMs !== 'number' || leftMs <= 0) return undefined;
    const kept = open(sealed, this.#keyOf(place), sealedAs(name, place)) ?? '';
    const [, forMs = '', text = ''] = keptPattern.exec(kept) ?? [];
    // The expiry in Redis may have been changed.
    const ageMs = Number(forMs) - leftMs;
    return text === '' || ageMs < 0 ? undefined : { text, ageMs };
  }

  /** Keeps a text for so many milliseconds. The caller does not wait for Redis. */
  keep(place: SharedPlace, text: string, forMs: number): void {
    if (text.length > longestText) return;
    const name = this.#nameOf(place);
    const sealed = seal(`${forMs} ${text}`, this.#keyOf(place), sealedAs(name, place));
    void this.#redis.ask('set', [name, sealed, 'PX', forMs]);
  }

  /**
   * True if this gateway is to refresh the answer: it is the first to ask for it within so many milliseconds. Also true if
   * Redis does not answer.
   */
  async claim(place: SharedPlace, forMs: number): Promise<boolean> {
    const name = this.#nameOf(place).replace('answer', 'refresh');
    return (await this.#redis.ask('set', [name, '', 'PX', forMs, 'NX'])) !== null;
  }

  /** True if an answer is kept at a place. */
  async has(place: SharedPlace): Promise<boolean> {
    const name = this.#nameOf(place);
    return (await this.#redis.ask('exists', [name])) === 1;
  }

  #nameOf({ sharingKey, epoch, name }: SharedPlace): string {
    return `cache:answer:${hash('sha256', `${this.#upstream} ${sharingKey} ${epoch} ${name}`, 'base64url')}`;
  }

  #keyOf({ upstreamKey, sharingKey }: SharedPlace): Buffer {
    const known = this.#keys.get(sharingKey);
    if (known !== undefined) return known;
    const key = sealingKeyOf(upstreamKey);
    this.#keys.set(sharingKey, key);
    return key;
  }
}

function sealedAs(name: string, { epoch }: SharedPlace): string {
  return `${name} ${epoch}`;
}
