import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';
import { RecentMap } from '../../recent-map.ts';
import type { SharedRedis } from '../../redis.ts';
import type { Epoch } from '../epochs.ts';

/**
 * The place of an answer in Redis. Redis knows only a hash of this place. The answer is encrypted with a key that is
 * derived from `upstreamKey`.
 */
export interface AnswerPlace {
  readonly upstreamKey: string;
  readonly sharingKey: string;
  readonly epoch: Epoch;
  /** The name of the answer: its epoch, its format, and the path and query without the number of rows. */
  readonly name: string;
}

interface RemoteText {
  readonly text: string;
  /** The number of rows that were asked for; undefined if the answer is not a page. */
  readonly limit: number | undefined;
  readonly ageMs: number;
}

/** The longest text that is shared, in characters. Longer ones stay in the process that has read them. */
const longestText = 2 ** 20;

/**
 * The form of a sealed text. First come the milliseconds for which it is kept, which may differ between gateways. Then
 * come the number of rows that were asked for, if the answer is a page, and the text of the answer.
 */
const keptPattern = /^(\d+) (\d*) (.*)$/s;

/** The most keys that are remembered: more than are used within a short time. */
const mostKeys = 1000;

/** The answers that gateways share, encrypted. A text that cannot be opened, for whatever reason, is a miss. */
export class RedisAnswers {
  readonly #redis: SharedRedis;
  readonly #upstream: string;
  readonly #keys = new RecentMap<string, Buffer>({ entries: mostKeys });

  /** `upstream` is part of every name, because several upstreams may share one Redis. */
  constructor(redis: SharedRedis, upstream: string) {
    this.#redis = redis;
    this.#upstream = upstream;
  }

  async find(place: AnswerPlace): Promise<RemoteText | undefined> {
    const name = this.#nameOf(place);
    const asked = [this.#redis.ask('get', [name], { isBinary: true }), this.#redis.ask('pttl', [name])];
    const [sealed, leftMs] = await Promise.all(asked);
    if (!Buffer.isBuffer(sealed) || typeof leftMs !== 'number' || leftMs <= 0) return undefined;
    const kept = open(sealed, this.#keyOf(place), sealedAs(name, place)) ?? '';
    const [, forMs = '', limit = '', text = ''] = keptPattern.exec(kept) ?? [];
    // Another client of Redis may have changed the expiry.
    const ageMs = Number(forMs) - leftMs;
    return text === '' || ageMs < 0 ? undefined : { text, limit: limit === '' ? undefined : Number(limit), ageMs };
  }

  /**
   * Keeps the text of an answer for `forMs` milliseconds; `limit` is the number of rows of a page. Does not wait for
   * Redis.
   */
  keep(place: AnswerPlace, { text, limit }: Omit<RemoteText, 'ageMs'>, forMs: number): void {
    if (text.length > longestText) return;
    const name = this.#nameOf(place);
    const sealed = seal(`${forMs} ${limit ?? ''} ${text}`, this.#keyOf(place), sealedAs(name, place));
    void this.#redis.ask('set', [name, sealed, 'PX', forMs]);
  }

  /**
   * True if this gateway is to refresh the answer, because it is the first to ask within `forMs` milliseconds. Also
   * true if Redis does not answer.
   */
  async claim(place: AnswerPlace, forMs: number): Promise<boolean> {
    const name = this.#nameOf(place).replace('answer', 'refresh');
    return (await this.#redis.ask('set', [name, '', 'PX', forMs, 'NX'])) !== null;
  }

  async has(place: AnswerPlace): Promise<boolean> {
    const name = this.#nameOf(place);
    return (await this.#redis.ask('exists', [name])) === 1;
  }

  #nameOf({ sharingKey, epoch, name }: AnswerPlace): string {
    return `cache:answer:${hash('sha256', `${this.#upstream} ${sharingKey} ${epoch} ${name}`, 'base64url')}`;
  }

  #keyOf({ upstreamKey, sharingKey }: AnswerPlace): Buffer {
    const known = this.#keys.get(sharingKey);
    if (known !== undefined) return known;
    const key = sealingKeyOf(upstreamKey);
    this.#keys.set(sharingKey, key);
    return key;
  }
}

function sealedAs(name: string, { epoch }: AnswerPlace): string {
  return `${name} ${epoch}`;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** The encryption key for answers read with an upstream key: only a holder of the upstream key can derive it. */
function sealingKeyOf(upstreamKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', upstreamKey, '', 'cached REST answers', 32));
}

/** A text, encrypted so that it can only be opened with the key and with what it is bound to. */
function seal(text: string, key: Buffer, bound: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/**
 * The text that was sealed; undefined if it was sealed with another key or bound to something else, or has been
 * changed.
 */
function open(sealed: Buffer, key: Buffer, bound: string): string | undefined {
  const start = ivBytes + tagBytes;
  if (sealed.length < start) return undefined;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(bound)).setAuthTag(sealed.subarray(ivBytes, start));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
