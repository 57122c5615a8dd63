import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SharedRedis } from '../../redis.ts';
import type { Epoch } from './epochs.ts';
import { open, seal, sealingKeyOf } from './sealed-text.ts';

/** What an answer is read and kept with; names in Redis are made of hashes of it. */
export interface SharedPlace {
  readonly upstreamKey: string;
  readonly sharingKey: string;
  readonly epoch: Epoch;
  /** What was asked for, and how it is read. */
  readonly name: string;
}

/** A text of Redis, and how long ago it was kept, in milliseconds. */
export interface RemoteText {
  readonly text: string;
  readonly ageMs: number;
}

/** Longer texts stay in the process that has read them; in characters. */
const longestText = 2 ** 20;

/** What is sealed: for how many milliseconds it is kept, which another gateway may do for longer or less, and the text. */
const keptPattern = /^(\d+) (.*)$/s;

/** More keys than are used within a short time. */
const mostKeys = 1000;

/** The answers that gateways share, encrypted. What cannot be opened, for whatever reason, is a miss. */
export class RedisAnswers {
  readonly #redis: SharedRedis;
  readonly #upstream: string;
  readonly #keys = new LRUCache<string, Buffer>({ max: mostKeys });

  /** `upstream` tells the answers of several upstreams in one Redis apart. */
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
    // Its end may have been put off.
    const ageMs = Number(forMs) - leftMs;
    return text === '' || ageMs < 0 ? undefined : { text, ageMs };
  }

  /** Keeps a text for so many milliseconds; nothing waits for that. */
  keep(place: SharedPlace, text: string, forMs: number): void {
    if (text.length > longestText) return;
    const name = this.#nameOf(place);
    const sealed = seal(`${forMs} ${text}`, this.#keyOf(place), sealedAs(name, place));
    void this.#redis.ask('set', [name, sealed, 'PX', forMs]);
  }

  /**
   * True if an answer is this gateway's to read anew: it is the first that wants to, for so many milliseconds. Without an
   * answer of Redis it is.
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
