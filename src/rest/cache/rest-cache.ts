import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller.ts';
import type { RestOperation } from '../operation-ids.ts';
import { csvOf, jsonOf } from '../response-content.ts';
import { CacheCounts } from './cache-counts.ts';
import type { CacheUse } from './cache-use.ts';
import { CachedAnswer, CachedAnswers, weightOf } from './cached-answers.ts';
import { type Epoch, type Epochs, LocalEpochs } from './epochs.ts';
import { type Freshness, freshnessByOperation } from './freshness.ts';
import { OperationCache } from './operation-cache.ts';
import { PageSizes } from './page-sizes.ts';
import type { RedisAnswers, SharedPlace } from './redis-answers.ts';
import { ReusableTexts } from './reusable-texts.ts';

/** Settings of the cache. */
export interface CacheOptions {
  /** How long answers are fresh, in seconds by noun; others are not kept. */
  readonly ttls: Readonly<Record<string, number>>;
  /** How long they are still used after that, while newer ones are read, in seconds. */
  readonly staleSeconds: number;
  /** Most memory of one process for them and for what is made of them, in bytes. */
  readonly maxBytes: number;
  /** How long a refresh may take, in milliseconds. */
  readonly refreshMs: number;
  /** Where the epochs of keys are kept; by default in this process, which then has to be the only one. */
  readonly epochs?: Epochs | undefined;
  /** Where answers are shared with other gateways; by default nowhere. */
  readonly remote?: RedisAnswers | undefined;
  /** Called with the bytes of each answer that is kept. */
  readonly onKept?: ((bytes: number) => void) | undefined;
  /** A clock in milliseconds that never goes back; by default `performance.now()`. */
  readonly now?: () => number;
}

/** What an answer is read as: the same target may be asked for both ways. */
export type AnswerKind = 'json' | 'csv';

/** Where an answer is kept. */
export interface AnswerPlace extends SharedPlace {
  readonly kind: AnswerKind;
  /** Path and query. */
  readonly target: string;
}

/** The part of the memory that is for what operations have made of answers. */
const partOfTexts = 1 / 8;

/** Where an answer that is too old is read anew: in this gateway, in another one, or it has been already. */
export type Refresh = 'here' | 'elsewhere' | 'done';

/** The cache of REST answers that all operations of a process share. */
export class RestCache {
  readonly answers: CachedAnswers;
  readonly texts: ReusableTexts;
  readonly epochs: Epochs;
  readonly counts = new CacheCounts();
  /** In which sizes this process has kept pages. */
  readonly sizes = new PageSizes();
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** How long a refresh may take, in milliseconds. */
  readonly refreshMs: number;
  /** After so long a write that was given up has arrived, or never will, in milliseconds. */
  readonly lateMs: number;
  readonly #freshness: ReadonlyMap<RestOperation, Freshness>;
  /** Epochs that were ended because of what the upstream has answered, each once: all who waited for a call report it. */
  readonly #ended = new LRUCache<Epoch, Promise<void>>({ max: mostEnded });
  readonly #remote: RedisAnswers | undefined;
  /** Answers that are being looked for in Redis, by name: once for all who want them. */
  readonly #asked = new Map<string, Promise<CachedAnswer | undefined>>();
  #unshared = 0;

  constructor(options: CacheOptions) {
    const { ttls, staleSeconds, maxBytes, refreshMs } = options;
    const { epochs = new LocalEpochs(), now = () => performance.now() } = options;
    this.answers = new CachedAnswers(maxBytes * (1 - partOfTexts), options.onKept);
    const { answers, counts } = this;
    this.texts = new ReusableTexts({ answers, counts, now, maxBytes: maxBytes * partOfTexts, onKept: options.onKept });
    this.epochs = epochs;
    this.now = now;
    this.refreshMs = refreshMs;
    this.lateMs = 2 * refreshMs;
    this.#remote = options.remote;
    this.#freshness = freshnessByOperation(ttls, staleSeconds * 1000);
  }

  /** True if answers are kept at all: without that it only tells what is under way from what was before a write. */
  get keepsAny(): boolean {
    return this.#freshness.size > 0;
  }

  /** How long the answers of a REST operation are used; undefined if they are not kept. */
  freshnessOf(operation: RestOperation): Freshness | undefined {
    return this.#freshness.get(operation);
  }

  /** What one operation has of the cache. If the epoch of its key cannot be known, that is nothing. */
  open(caller: Caller, use: CacheUse): OperationCache | Promise<OperationCache> {
    // A key that the gateway holds is not one that a caller has invented.
    if (caller.tenant !== undefined) this.epochs.prove(caller.sharingKey);
    const epoch = this.epochs.current(caller.sharingKey);
    if (!(epoch instanceof Promise)) return this.#openAt(caller, epoch, use);
    return epoch.then((known) => this.#openAt(caller, known, use));
  }

  /** The same for a caller who can read nothing: nothing is shared with it, and nothing is remembered of it. */
  openUnshared(caller: Caller): OperationCache {
    return this.#openAt(caller, undefined, 'none');
  }

  /** The answer at a place that may still be used, if this process has it. */
  findHere({ name }: AnswerPlace, { staleMs }: Freshness): CachedAnswer | undefined {
    const answer = this.answers.find(name);
    return answer !== undefined && this.now() - answer.freshUntil < staleMs ? answer : undefined;
  }

  /** The same, here or where it is shared. */
  find(place: AnswerPlace, freshness: Freshness): CachedAnswer | undefined | Promise<CachedAnswer | undefined> {
    const answer = this.findHere(place, freshness);
    if (answer !== undefined || this.#remote === undefined) return answer;
    const { name } = place;
    let asked = this.#asked.get(name);
    if (asked === undefined) {
      asked = this.#findRemote(this.#remote, place, freshness).finally(() => this.#asked.delete(name));
      this.#asked.set(name, asked);
    }
    return asked;
  }

  /** True if an answer that is too old has to be read anew here. One that another gateway has read anew is taken over. */
  refreshOf(place: AnswerPlace, freshness: Freshness): Promise<Refresh> | Refresh {
    return this.#remote === undefined ? 'here' : this.#sharedRefreshOf(this.#remote, place, freshness);
  }

  /** Keeps what was read from a text. Returns until when it is fresh. */
  keep(place: AnswerPlace, value: unknown, text: string, freshness: Freshness): number {
    const { freshMs, staleMs } = freshness;
    const { freshUntil } = this.#keepHere(place, value, text, freshness, this.now() + freshMs);
    this.#remote?.keep(place, text, freshMs + staleMs);
    return freshUntil;
  }

  /** Ends an epoch of a key, once: what was kept under it is not true any more, though nothing was written here. */
  end(sharingKey: string, epoch: Epoch): Promise<void> {
    const known = this.#ended.get(epoch);
    if (known !== undefined) return known;
    const ended = Promise.resolve(this.epochs.renew(sharingKey)).then(() => undefined);
    this.#ended.set(epoch, ended);
    return ended;
  }

  /** True if there is an answer at one of these places, here or where it is shared, in time or not. */
  async hasAny(places: readonly AnswerPlace[]): Promise<boolean> {
    if (places.some(({ name }) => this.answers.find(name) !== undefined)) return true;
    const remote = this.#remote;
    if (remote === undefined) return false;
    return (await Promise.all(places.map((place) => remote.has(place)))).includes(true);
  }

  /** An epoch that no other operation has: one that has it shares nothing. */
  unsharedEpoch(): Epoch {
    this.#unshared += 1;
    return `unshared ${this.#unshared}`;
  }

  #openAt(caller: Caller, epoch: Epoch | undefined, use: CacheUse): OperationCache {
    return new OperationCache(this, caller, epoch, this.keepsAny ? use : 'apart');
  }

  async #sharedRefreshOf(remote: RedisAnswers, place: AnswerPlace, freshness: Freshness): Promise<Refresh> {
    if ((await this.#findRemote(remote, place, freshness, true)) !== undefined) return 'done';
    return (await remote.claim(place, Math.min(freshness.freshMs, this.refreshMs))) ? 'here' : 'elsewhere';
  }

  async #findRemote(
    remote: RedisAnswers,
    place: AnswerPlace,
    freshness: Freshness,
    mustBeFresh = false,
  ): Promise<CachedAnswer | undefined> {
    const { freshMs, staleMs } = freshness;
    const found = await remote.find(place);
    if (found === undefined || found.ageMs >= (mustBeFresh ? freshMs : freshMs + staleMs)) return undefined;
    const { text, ageMs } = found;
    try {
      return this.#keepHere(place, valueIn(text, place.kind), text, freshness, this.now() + freshMs - ageMs);
    } catch {
      return undefined;
    }
  }

  #keepHere(
    { name, target }: AnswerPlace,
    value: unknown,
    text: string,
    { noun, freshMs }: Freshness,
    freshUntil: number,
  ): CachedAnswer {
    this.sizes.note(target);
    const version = { name, noun, freshMs, freshUntil };
    const answer = new CachedAnswer({ value, size: text.length, bytes: weightOf(name, text), version });
    this.answers.keep(answer);
    return answer;
  }
}

/** What a text says that was kept because it could be read. */
function valueIn(text: string, kind: AnswerKind): unknown {
  const read = { status: 200, cacheControl: '', text };
  return kind === 'csv'
    ? csvOf({ ...read, contentType: 'text/csv' })
    : jsonOf({ ...read, contentType: 'application/json' });
}

/** More epochs than are ended within a short time. */
const mostEnded = 1000;
