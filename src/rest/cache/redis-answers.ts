import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';
import { memoize } from '../../memoize.ts';
import type { SharedRedis } from '../../redis.ts';
import type { Caller } from '../caller.ts';
import type { CachedRead } from './answer-cache.ts';

/** The part of a read by which its answer is found. */
type Place = Pick<CachedRead, 'caller' | 'name'>;

interface RemoteText {
  readonly text: string;
  /** Undefined if the answer is not a page. */
  readonly limit: number | undefined;
  /** The time since its request was sent. */
  readonly ageMs: number;
}

/** The longest text that is shared, in characters. */
const longestText = 2 ** 20;

/**
 * The form of a sealed text: the milliseconds for which it is kept, the number of rows that were asked for, and the
 * answer. The milliseconds may differ between gateways. Only a page has a number of rows.
 */
const keptPattern = /^(\d+) (\d*) (.*)$/s;

/**
 * The answers that gateways share in Redis, encrypted. Each is stored under a hash of upstream, key and name. A text
 * that cannot be decrypted, for whatever reason, is a miss.
 */
export class RedisAnswers {
  readonly #redis: SharedRedis;
  readonly #upstreamUrl: string;

  /** `upstreamUrl` is part of every name, because several upstreams may share one Redis. */
  constructor(redis: SharedRedis, upstreamUrl: string) {
    this.#redis = redis;
    this.#upstreamUrl = upstreamUrl;
  }

  async find(place: Place): Promise<RemoteText | undefined> {
    const name = this.#nameOf(place);
    const asked = [this.#redis.ask('get', [name], { isBinary: true }), this.#redis.ask('pttl', [name])];
    const [sealed, leftMs] = await Promise.all(asked);
    if (!Buffer.isBuffer(sealed) || typeof leftMs !== 'number' || leftMs <= 0) return undefined;
    const kept = open(sealed, sealingKeyOf(place.caller), name) ?? '';
    const [, forMs = '', limit = '', text = ''] = keptPattern.exec(kept) ?? [];
    // Another client of Redis may have changed the expiry.
    const ageMs = Number(forMs) - leftMs;
    return text === '' || ageMs < 0 ? undefined : { text, limit: limit === '' ? undefined : Number(limit), ageMs };
  }

  /**
   * Stores the text of an answer for as long as it is usable. Its age counts from the time at which its request was
   * sent, so that other gateways can tell which of two answers is newer. Does not wait for Redis.
   */
  keep(read: CachedRead, text: string, sentAt: number): void {
    if (text.length > longestText) return;
    const name = this.#nameOf(read);
    const { usableMs, limit = '', caller } = read;
    const sealed = seal(`${usableMs} ${limit} ${text}`, sealingKeyOf(caller), name);
    void this.#redis.ask('set', [name, sealed, 'PX', Math.max(1, Math.ceil(usableMs - (performance.now() - sentAt)))]);
  }

  /**
   * True if this gateway is the first to ask within `forMs` milliseconds, so that it refreshes the answer. Also true if
   * Redis does not answer.
   */
  async claim(place: Place, forMs: number): Promise<boolean> {
    const name = this.#nameOf(place).replace('answer', 'refresh');
    return (await this.#redis.ask('set', [name, '', 'PX', forMs, 'NX'])) !== null;
  }

  async has(place: Place): Promise<boolean> {
    const name = this.#nameOf(place);
    return (await this.#redis.ask('exists', [name])) === 1;
  }

  #nameOf({ caller, name }: Place): string {
    return `cache:answer:${hash('sha256', `${this.#upstreamUrl} ${caller.sharingKey} ${name}`, 'base64url')}`;
  }
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** The encryption key for answers: only a holder of the upstream key can derive it. */
const sealingKeyOf = memoize(({ key }: Caller) => Buffer.from(hkdfSync('sha256', key, '', 'cached REST answers', 32)));

/** Encrypts a text, which can be opened only with the same `key` and `bound`. */
function seal(text: string, key: Buffer, bound: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** The text that was sealed; undefined if the key or `bound` is another one, or the text was changed. */
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
