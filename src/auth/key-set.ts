import { isDeepStrictEqual } from 'node:util';
import type { JSONWebKeySet, JWTVerifyGetKey, LocalJWKSet } from 'jose';
import { messageOf } from '../error-text.ts';
import type { Reloads } from '../follow.ts';
import { latePackage } from '../late-packages.ts';
import type { Log } from '../log.ts';
import { readTextFile } from '../read-text.ts';
import type { Route } from '../rest/transport/connect.ts';
import { fetchDocument } from '../rest/transport/fetch-document.ts';
import { isList, isObject, jsonIn } from '../rest/values.ts';

export interface KeySetOptions {
  /** The source of the set as logs show it: a URL without its query, or the path of a file. */
  readonly from: string;
  /** Reads the set. Rejects with an Error whose message is for an operator. */
  readonly fetch: () => Promise<JSONWebKeySet>;
  readonly log: Log;
  /** A clock that never goes back. */
  readonly now?: () => number;
}

/** The interval at which the set is fetched, even if no token needs it, in milliseconds. */
const everyMs = 600_000;

/**
 * The least time between two attempts, failed ones included, in milliseconds: tokens that name unknown keys must not
 * burden the provider.
 */
const apartMs = 30_000;

/**
 * The provider's keys, which change now and then. While the provider fails, the last set stays in use. jose's own
 * remote set refuses every token once its set is ten minutes old, and asks a failing provider again for each token.
 */
export class KeySet {
  readonly reloads: Reloads = { ok: 0, failed: 0 };
  /** The number of times that a new set lacked a key of the set before. A token with such a key is no longer valid. */
  withdrawals = 0;
  /** True if the last attempt to fetch the set has failed. */
  isFailing = false;
  readonly #options: Required<KeySetOptions>;
  #set: JSONWebKeySet | undefined;
  #keys: LocalJWKSet | undefined;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #underWay: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: KeySetOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Finds the key of a token. Asks for a new set if the set does not have the key, or if no set has come yet. */
  async findKey(...token: Parameters<JWTVerifyGetKey>): ReturnType<LocalJWKSet> {
    const { createLocalJWKSet, errors } = latePackage('jose');
    const find = (): ReturnType<LocalJWKSet> => (this.#keys ?? createLocalJWKSet({ keys: [] }))(...token);
    try {
      return await find();
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.renew();
      return find();
    }
  }

  /** Seconds until the set may be fetched again, at least one. */
  get retryAfter(): number {
    return Math.max(1, Math.ceil((this.#attemptedAt + apartMs - this.#options.now()) / 1000));
  }

  /** Fetches the set now and at intervals. Resolves after the first attempt, successful or not. */
  follow(): Promise<void> {
    this.#timer ??= setInterval(() => void this.renew(), everyMs).unref();
    return this.renew();
  }

  /** Fetches the set unless the last attempt was a moment ago; joins an attempt that is under way. Never rejects. */
  renew(): Promise<void> {
    const { now } = this.#options;
    if (this.#underWay !== undefined) return this.#underWay;
    if (now() - this.#attemptedAt < apartMs) return Promise.resolve();
    this.#attemptedAt = now();
    this.#underWay = this.#fetch().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #fetch(): Promise<void> {
    const { fetch, from, log } = this.#options;
    try {
      const set = await fetch();
      this.isFailing = false;
      if (!isDeepStrictEqual(set, this.#set)) this.#adopt(set);
      this.reloads.ok += 1;
    } catch (error) {
      this.isFailing = true;
      this.reloads.failed += 1;
      const reason = messageOf(error);
      const kept = this.#set === undefined ? 'no token can be verified' : 'the previous keys stay in use';
      log('error', `the keys of the identity provider cannot be read; ${kept}`, { from, reason });
    }
  }

  #adopt(set: JSONWebKeySet): void {
    const { log } = this.#options;
    const hasKey = (key: object): boolean => set.keys.some((other) => isDeepStrictEqual(other, key));
    if (this.#set?.keys.every(hasKey) === false) this.withdrawals += 1;
    this.#keys = latePackage('jose').createLocalJWKSet(set);
    this.#set = set;
    log('info', 'the keys of the identity provider were read', { keys: set.keys.length });
  }
}

/** The largest key set that is fetched, in bytes: far larger than that of any provider. */
const maxBytes = 65_536;

/** The media types of key sets (RFC 7517 §8.5). Most providers send plain JSON. */
const mediaTypes = ['application/json', 'application/jwk-set+json'] as const;

const headers = { accept: mediaTypes.join(', ') };

/** The time in which the provider has to answer, in milliseconds. Requests wait for it if there is no key set yet. */
const usualTimeoutMs = 5000;

/** Reads the key set at an http or https URL, or in a file. `route` returns the current route to the URL. */
export async function fetchKeySet(
  from: string,
  route: () => Route,
  timeoutMs = usualTimeoutMs,
): Promise<JSONWebKeySet> {
  if (!isKeySetUrl(from)) return toKeySet(readTextFile(from), 'the file');
  const answer = await fetchDocument(from, { route: route(), maxBytes, timeoutMs, mediaTypes, headers });
  return toKeySet(answer?.text ?? '', 'the answer');
}

/** True if a key set is fetched, and not read from a file. */
export function isKeySetUrl(from: string): boolean {
  return /^https?:\/\//i.test(from);
}

/** The key set in a text. Throws an Error for any other text; `what` names the text in its message. */
export function toKeySet(text: string, what: 'the file' | 'the answer'): JSONWebKeySet {
  const value = jsonIn(text);
  if (value === undefined) throw new Error(`${what} is not JSON`);
  const keys: unknown = isObject(value) ? value['keys'] : undefined;
  if (isObject(value) && typeof value['jwks_uri'] === 'string')
    throw new Error(`${what} is the configuration of a provider; its \`jwks_uri\` is the address of the key set`);
  if (!isList(keys) || !keys.every(isKey)) {
    throw new Error(`${what} is JSON, but not a key set: \`keys\` has to be a list of objects with a \`kty\``);
  }
  if (keys.some((key) => 'd' in key)) throw new Error(`${what} holds a private key`);
  return { keys: [...keys] };
}

function isKey(value: unknown): value is JSONWebKeySet['keys'][number] {
  return isObject(value) && typeof value['kty'] === 'string';
}
