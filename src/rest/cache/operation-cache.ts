import type { Caller } from '../caller.ts';
import type { RestOperation } from '../operation-ids.ts';
import { namesCurrent } from '../paths.ts';
import type { DecodedResponse } from '../transport/decode-response.ts';
import { type CacheUse, forbidsKeeping } from './cache-use.ts';
import type { CachedAnswer } from './cached-answers.ts';
import type { Epoch } from './epochs.ts';
import type { Freshness } from './freshness.ts';
import { GivenAnswers } from './given-answers.ts';
import { OperationPages } from './operation-pages.ts';
import type { AnswerKind, AnswerPlace, Refresh, RestCache } from './rest-cache.ts';
import type { ReusableText } from './reusable-texts.ts';

/** How answers of one kind are understood. */
interface Format<T> {
  readonly kind: AnswerKind;
  readonly decode: (response: DecodedResponse) => T;
}

/** A read whose answer is kept. */
export interface CachedRead {
  readonly operation: RestOperation;
  readonly kind: AnswerKind;
  /** Path and query. */
  readonly target: string;
}

/** What one operation has of the cache: the answers of its key under the epoch that it began with. */
export class OperationCache {
  readonly #cache: RestCache;
  readonly #caller: Caller;
  #epoch: Epoch;
  /** False if the epoch is one that no other operation has: nothing is kept under it. */
  #isShared: boolean;
  #use: CacheUse;
  #freshUntil = Number.POSITIVE_INFINITY;
  readonly #given = new GivenAnswers();
  #pages: OperationPages | undefined;
  #ending: Promise<void> | undefined;

  /** Without an epoch nothing is used, kept or shared. */
  constructor(cache: RestCache, caller: Caller, epoch: Epoch | undefined, use: CacheUse) {
    this.#cache = cache;
    this.#caller = caller;
    this.#epoch = epoch ?? cache.unsharedEpoch();
    this.#isShared = epoch !== undefined;
    this.#use = epoch === undefined ? 'none' : use;
  }

  get use(): CacheUse {
    return this.#use;
  }

  /** True if the request wants that nothing is used that was read before it. */
  get isBypassed(): boolean {
    return this.#use === 'reload' || this.#use === 'none';
  }

  /** Reads in flight are shared under it, too. */
  get epoch(): Epoch {
    return this.#epoch;
  }

  /**
   * For how long all answers stay fresh that the operation was given, in milliseconds; those of nouns that are not kept do
   * for ever.
   */
  get freshMs(): number {
    return this.#freshUntil - this.#cache.now();
  }

  /** What an equal operation has made of answers that would all be given again; they count as given to this one. */
  reuse(name: string): ReusableText | undefined {
    if (this.#use !== 'normal') return undefined;
    const known = this.#cache.texts.reuse(name);
    if (known !== undefined) this.#note(known.given.freshUntil);
    return known;
  }

  /** True if what the operation has made can be given to equal ones: it was given fresh answers of the cache alone. */
  get isReusable(): boolean {
    return this.#given.isAll;
  }

  /** Keeps what a reusable operation has made, for equal ones under the same epoch. The name tells them from all others. */
  keepText(name: string, text: string): void {
    this.#cache.texts.keep(name, text, this.#given);
  }

  /** The operation is about to call: what it makes is made of more than answers of the cache. */
  noteCall(): void {
    this.#given.addOther();
  }

  /** The operation has written: its reads from now on are those of this epoch, if it is known. */
  moveTo(epoch: Epoch | undefined): void {
    this.#epoch = epoch ?? this.#cache.unsharedEpoch();
    this.#isShared = epoch !== undefined;
    if (epoch === undefined) this.#use = 'none';
  }

  /** The same for what reads an answer anew and keeps it. */
  forRefresh(): OperationCache {
    return new OperationCache(this.#cache, this.#caller, this.#epoch, 'reload');
  }

  /** True if an answer that was found is too old, and only given because a newer one is about to be read. */
  isStale({ freshUntil }: CachedAnswer): boolean {
    return this.#cache.now() >= freshUntil;
  }

  /** In which sizes it asks for pages; undefined if it wants everything anew. */
  get pages(): OperationPages | undefined {
    if (this.#use !== 'normal') return undefined;
    this.#pages ??= new OperationPages(this.#cache, (target) => this.#placeOf('json', target), this.#given);
    return this.#pages;
  }

  /** The answer to a read, if there is one that may be given without a call. Counts the read. */
  find(
    operation: RestOperation,
    kind: AnswerKind,
    target: string,
  ): CachedAnswer | undefined | Promise<CachedAnswer | undefined> {
    const freshness = this.#freshnessOf(operation, target);
    if (freshness === undefined) return undefined;
    const { counts } = this.#cache;
    if (this.#use !== 'normal') {
      if (this.#use !== 'apart') counts.add(freshness.noun, 'bypass');
      this.#noteRead(freshness);
      return undefined;
    }
    const found = this.#cache.find(this.#placeOf(kind, target), freshness);
    return found instanceof Promise
      ? found.then((answer) => this.#counted(answer, freshness))
      : this.#counted(found, freshness);
  }

  /** Where an answer that is too old is read anew. If another gateway has done that, its answer is given from now on. */
  refreshOf({ operation, kind, target }: CachedRead): Promise<Refresh> | Refresh {
    const freshness = this.#freshnessOf(operation, target);
    return freshness === undefined ? 'here' : this.#cache.refreshOf(this.#placeOf(kind, target), freshness);
  }

  /** How a read is understood whose answer is kept, under the epoch from before it. */
  keeping<T>({ kind, decode }: Format<T>, operation: RestOperation, target: string): Format<T>['decode'] {
    const freshness = this.#freshnessOf(operation, target);
    if (freshness === undefined) return decode;
    const isKept = this.#use !== 'none' && this.#use !== 'apart';
    const place = this.#placeOf(kind, target);
    return (response) => {
      const value = decode(response);
      if (forbidsKeeping(response.cacheControl)) this.#ending = this.endKept(target);
      else if (isKept) this.#note(this.#cache.keep(place, value, response.text, freshness));
      return value;
    };
  }

  /** Done once no answer is given any more that the operation has found to be no longer true; undefined if there is none. */
  get ending(): Promise<void> | undefined {
    return this.#ending;
  }

  /**
   * The upstream refuses what was asked for, does not know it, or wants it kept no more. If there was an answer to it, that is
   * given no more, nor is any other of the key. For what was never kept nothing ends: callers can ask for any id.
   */
  async endKept(...targets: readonly string[]): Promise<void> {
    if (!this.#isShared) return;
    const all = new Set(targets.flatMap((target) => [target, ...this.#cache.sizes.others(target)]));
    const places = [...all].flatMap((target) => [this.#placeOf('json', target), this.#placeOf('csv', target)]);
    if (await this.#cache.hasAny(places)) await this.end();
  }

  /** Ends the use of all that the key has read. */
  async end(): Promise<void> {
    if (this.#isShared) await this.#cache.end(this.#caller.sharingKey, this.#epoch);
  }

  /** The upstream takes the key. */
  prove(): void {
    this.#cache.epochs.prove(this.#caller.sharingKey);
  }

  /**
   * How long the answer of a read is used; undefined if it is not kept. What `@current` stands for changes without a write: two
   * answers below it, kept at different times, may be about different projects.
   */
  #freshnessOf(operation: RestOperation, target: string): Freshness | undefined {
    return namesCurrent(target) ? undefined : this.#cache.freshnessOf(operation);
  }

  #counted(answer: CachedAnswer | undefined, freshness: Freshness): CachedAnswer | undefined {
    const { counts } = this.#cache;
    const { noun, freshMs } = freshness;
    if (answer === undefined) {
      counts.add(noun, 'miss');
      this.#noteRead(freshness);
    } else {
      const leftMs = answer.freshUntil - this.#cache.now();
      counts.add(noun, leftMs > 0 ? 'hit' : 'stale');
      counts.addAge(freshMs - leftMs);
      if (leftMs > 0) this.#given.add(answer.version);
      this.#note(answer.freshUntil);
    }
    return answer;
  }

  /** What is about to be read is fresh for so long at least, whichever operation's call reads it. */
  #noteRead({ freshMs }: Freshness): void {
    this.#note(this.#cache.now() + freshMs);
  }

  #note(freshUntil: number): void {
    if (freshUntil < this.#freshUntil) this.#freshUntil = freshUntil;
  }

  #placeOf(kind: AnswerKind, target: string): AnswerPlace {
    const { key: upstreamKey, sharingKey } = this.#caller;
    return { upstreamKey, sharingKey, epoch: this.#epoch, kind, target, name: `${this.#epoch} ${kind} ${target}` };
  }
}
