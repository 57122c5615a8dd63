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
  /** The time for which answers are fresh, in seconds by noun. Answers of other nouns are not kept. */
  readonly ttls: Readonly<Record<string, number>>;
  /** The time for which stale answers are still used while newer ones are read, in seconds. */
  readonly staleSeconds: number;
  /** The most memory that one process may use for answers and for texts made of them, in bytes. */
  readonly maxBytes: number;
  /** The longest that a refresh may take, in milliseconds. */
  readonly refreshMs: number;
  /** The store of the epochs of keys. By default it is this process, which then has to be the only one. */
  readonly epochs?: Epochs | undefined;
  /** The store of the answers that gateways share; by default there is none. */
  readonly remote?: RedisAnswers | undefined;
  /** Called with the bytes of each answer that is kept. */
  readonly onKept?: ((bytes: number) => void) | undefined;
  /** A clock in milliseconds that never goes back; by default `performance.now()`. */
  readonly now?: () => number;
}

/** The format that an answer is read in. One target may be asked for in both. */
export type AnswerKind = 'json' | 'csv';

/** Where an answer is kept. */
export interface AnswerPlace extends SharedPlace {
  readonly kind: AnswerKind;
  /** Path and query. */
  readonly target: string;
}

/** The part of the cache's memory for texts that operations have made of answers. */
const partOfTexts = 1 / 8;

/** The place where a stale answer is refreshed: this gateway, another one, or none because another one has done so. */
export type Refresh = 'here' | 'elsewhere' | 'done';

/** The cache of REST answers that all operations of a process share. */
export class RestCache {
  readonly answers: CachedAnswers;
  readonly texts: ReusableTexts;
  readonly epochs: Epochs;
  readonly counts = new CacheCounts();
  /** The page sizes of lists that this process has kept or been asked for. */
  readonly sizes = new PageSizes();
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** The longest that a refresh may take, in milliseconds. */
  readonly refreshMs: number;
  /** The time after which a write that was given up has either arrived or never will, in milliseconds. */
  readonly lateMs: number;
  readonly #freshness: ReadonlyMap<RestOperation, Freshness>;
  /** Epochs that an answer of the upstream has ended. Each is ended once, although every waiter of a call reports it. */
  readonly #ended = new LRUCache<Epoch, Promise<void>>({ max: mostEnded });
  readonly #remote: RedisAnswers | undefined;
  /** Look-ups in Redis that are in flight, by name: a single flight for each answer. */
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

  /** True if answers are kept at all. If not, the cache only separates reads in flight from those before a write. */
  get keepsAny(): boolean {
    return this.#freshness.size > 0;
  }

  /** The times for which the answers of a REST operation are used; undefined if they are not kept. */
  freshnessOf(operation: RestOperation): Freshness | undefined {
    return this.#freshness.get(operation);
  }

  /** Opens the cache for one operation. If the epoch of its key cannot be known, the operation uses nothing of the cache. */
  open(caller: Caller, use: CacheUse): OperationCache | Promise<OperationCache> {
    // A key that the gateway holds is not one that a caller has invented.
    if (caller.tenant !== undefined) this.epochs.prove(caller.sharingKey);
    const epoch = this.epochs.current(caller.sharingKey);
    if (!(epoch instanceof Promise)) return this.#openAt(caller, epoch, use);
    return epoch.then((known) => this.#openAt(caller, known, use));
  }

  /** Opens the cache for a caller who may read nothing. Nothing is shared with this caller or remembered. */
  openUnshared(caller: Caller): OperationCache {
    return this.#openAt(caller, undefined, 'none');
  }

  /** The answer at a place that may still be used, if this process has it. */
  findHere({ name }: AnswerPlace, { staleMs }: Freshness): CachedAnswer | undefined {
    const answer = this.answers.find(name);
    return answer !== undefined && this.now() - answer.freshUntil < staleMs ? answer : undefined;
  }

  /** The answer at a place that may still be used, from this process or from the shared store. */
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

  /** Decides which gateway refreshes a stale answer. A fresh answer of another gateway is adopted. */
  refreshOf(place: AnswerPlace, freshness: Freshness): Promise<Refresh> | Refresh {
    return this.#remote === undefined ? 'here' : this.#sharedRefreshOf(this.#remote, place, freshness);
  }

  /** Keeps a value with the text that it was read from. Returns the time until which it is fresh. */
  keep(place: AnswerPlace, value: unknown, text: string, freshness: Freshness): number {
    const { freshMs, staleMs } = freshness;
    const { freshUntil } = this.#keepHere(place, value, text, freshness, this.now() + freshMs);
    this.#remote?.keep(place, text, freshMs + staleMs);
    return freshUntil;
  }

  /** Ends an epoch of a key, once. The upstream's answers have shown that what was kept under it is not true any more. */
  end(sharingKey: string, epoch: Epoch): Promise<void> {
    const known = this.#ended.get(epoch);
    if (known !== undefined) return known;
    const ended = Promise.resolve(this.epochs.renew(sharingKey)).then(() => undefined);
    this.#ended.set(epoch, ended);
    return ended;
  }

  /** True if one of these places holds an answer, fresh or stale, in this process or in the shared store. */
  async hasAny(places: readonly AnswerPlace[]): Promise<boolean> {
    if (places.some(({ name }) => this.answers.find(name) !== undefined)) return true;
    const remote = this.#remote;
    if (remote === undefined) return false;
    return (await Promise.all(places.map((place) => remote.has(place)))).includes(true);
  }

  /** A new epoch that only one operation has, so that it shares nothing. */
  unsharedEpoch(): Epoch {
    this.#unshared += 1;
    return `unshared ${this.#unshared}`;
  }

  #openAt(caller: Caller, epoch: Epoch | undefined, use: CacheUse): OperationCache {
    return new OperationCache(this, caller, epoch, this.keepsAny ? use : 'uncounted');
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

/** The value of a kept text. Only texts that could be read are kept. */
function valueIn(text: string, kind: AnswerKind): unknown {
  const read = { status: 200, cacheControl: '', text };
  return kind === 'csv'
    ? csvOf({ ...read, contentType: 'text/csv' })
    : jsonOf({ ...read, contentType: 'application/json' });
}

/** The most ended epochs that are remembered: more than end within a short time. */
const mostEnded = 1000;
