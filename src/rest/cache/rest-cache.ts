import { LRUCache } from 'lru-cache';
import { operations } from '../generated/views.ts';
import type { RestOperation } from '../operation-ids.ts';
import { CacheCounts } from './cache-counts.ts';
import type { CacheUse } from './cache-use.ts';
import { CachedAnswers } from './cached-answers.ts';
import { type Epoch, type Epochs, LocalEpochs } from './epochs.ts';
import { cacheNounOf } from './nouns.ts';
import { OperationCache } from './operation-cache.ts';

/** Settings of the cache. */
export interface CacheOptions {
  /** How long answers are fresh, in seconds by noun; others are not kept. */
  readonly ttls: Readonly<Record<string, number>>;
  /** How long they are still used after that, while newer ones are read, in seconds. */
  readonly staleSeconds: number;
  /** Most memory of one process for them, in bytes. */
  readonly maxBytes: number;
  /** How long a refresh may take, in milliseconds. */
  readonly refreshMs: number;
  /** Where the epochs of keys are kept; by default in this process, which then has to be the only one. */
  readonly epochs?: Epochs | undefined;
  /** A clock in milliseconds that never goes back; by default `performance.now()`. */
  readonly now?: () => number;
}

/** How long the answers of one REST operation are used. Times in milliseconds. */
export interface Lifetime {
  readonly noun: string;
  readonly freshMs: number;
  readonly staleMs: number;
}

/** The cache of REST answers that all operations of a process share. */
export class RestCache {
  readonly answers: CachedAnswers;
  readonly epochs: Epochs;
  readonly counts = new CacheCounts();
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** How long a refresh may take, in milliseconds. */
  readonly refreshMs: number;
  /** After so long a write that was given up has arrived, or never will, in milliseconds. */
  readonly lateMs: number;
  readonly #lifetimes: ReadonlyMap<RestOperation, Lifetime>;
  /** Of keys that the upstream did not take, each once: all who waited for a call hear of it. */
  readonly #refused = new LRUCache<Epoch, true>({ max: mostRefused });
  #unshared = 0;

  constructor(options: CacheOptions) {
    const { ttls, staleSeconds, maxBytes, refreshMs } = options;
    const { epochs = new LocalEpochs(), now = () => performance.now() } = options;
    this.answers = new CachedAnswers(maxBytes);
    this.epochs = epochs;
    this.now = now;
    this.refreshMs = refreshMs;
    this.lateMs = 2 * refreshMs;
    this.#lifetimes = lifetimesOf(ttls, staleSeconds * 1000);
  }

  /** How long the answers of a REST operation are used; undefined if they are not kept. */
  lifetimeOf(operation: RestOperation): Lifetime | undefined {
    return this.#lifetimes.get(operation);
  }

  /** What one operation has of the cache. If the epoch of its key cannot be known, that is nothing. */
  open(sharingKey: string, use: CacheUse): OperationCache | Promise<OperationCache> {
    const epoch = this.epochs.current(sharingKey);
    if (!(epoch instanceof Promise)) return this.#openAt(epoch, use);
    return epoch.then((known) => this.#openAt(known, use));
  }

  /** The upstream did not take a key that had this epoch: it gets a new one, once. */
  refuse(sharingKey: string, epoch: Epoch): void {
    if (this.#refused.has(epoch)) return;
    this.#refused.set(epoch, true);
    void this.epochs.renew(sharingKey);
  }

  /** An epoch that no other operation has: who has it shares nothing. */
  unsharedEpoch(): Epoch {
    this.#unshared += 1;
    return `unshared ${this.#unshared}`;
  }

  #openAt(epoch: Epoch | undefined, use: CacheUse): OperationCache {
    if (epoch !== undefined) return new OperationCache(this, epoch, use);
    return new OperationCache(this, this.unsharedEpoch(), 'none');
  }
}

/** More keys than are refused within a short time. */
const mostRefused = 1000;

function lifetimesOf(ttls: CacheOptions['ttls'], staleMs: number): ReadonlyMap<RestOperation, Lifetime> {
  const lifetimes = new Map<RestOperation, Lifetime>();
  for (const operation of Object.values<RestOperation>(operations)) {
    const noun = cacheNounOf(operation);
    const seconds = Object.hasOwn(ttls, noun) ? ttls[noun] : undefined;
    if (seconds !== undefined) lifetimes.set(operation, { noun, freshMs: seconds * 1000, staleMs });
  }
  return lifetimes;
}
