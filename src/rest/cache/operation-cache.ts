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

/** The way in which answers of one kind are decoded. */
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

/** The view that one operation has of the cache: the answers of its key under the epoch that it began with. */
export class OperationCache {
  readonly #cache: RestCache;
  readonly #caller: Caller;
  #epoch: Epoch;
  /** False if no other operation has the epoch. Nothing is kept under such an epoch. */
  #isShared: boolean;
  #use: CacheUse;
  #freshUntil = Number.POSITIVE_INFINITY;
  readonly #given = new GivenAnswers();
  #pages: OperationPages | undefined;
  #ending: Promise<void> | undefined;

  /** Without an epoch the operation uses, keeps and shares nothing. */
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

  /** True if the request must not be given answers that were read before it. */
  get isBypassed(): boolean {
    return this.#use === 'reload' || this.#use === 'none';
  }

  /** The epoch of the key. Only operations under the same epoch share reads in flight. */
  get epoch(): Epoch {
    return this.#epoch;
  }

  /**
   * The time for which all answers that the operation was given stay fresh, in milliseconds. Answers of nouns that are not
   * kept do not limit it.
   */
  get freshMs(): number {
    return this.#freshUntil - this.#cache.now();
  }

  /**
   * The text that an equal operation has made, if the cache would give all of its answers again. They count as given to this
   * operation.
   */
  reuse(name: string): ReusableText | undefined {
    if (this.#use !== 'normal') return undefined;
    const known = this.#cache.texts.reuse(name);
    if (known !== undefined) this.#note(known.given.freshUntil);
    return known;
  }

  /** True if equal operations can be given this operation's result: all that it read were fresh answers of the cache. */
  get isReusable(): boolean {
    return this.#given.isAll;
  }

  /** Keeps the text of a reusable operation for equal ones under the same epoch. The name is unique to such operations. */
  keepText(name: string, text: string): void {
    this.#cache.texts.keep(name, text, this.#given);
  }

  /** Notes that the operation is about to call, so that its result is not made of cached answers alone. */
  noteCall(): void {
    this.#given.addOther();
  }

  /**
   * Moves to the epoch after a write: the operation's later reads use that one. An unknown epoch ends its use of the cache.
   */
  moveTo(epoch: Epoch | undefined): void {
    this.#epoch = epoch ?? this.#cache.unsharedEpoch();
    this.#isShared = epoch !== undefined;
    if (epoch === undefined) this.#use = 'none';
  }

  /** The cache as a refresh uses it: the answer is read anew and kept. */
  forRefresh(): OperationCache {
    return new OperationCache(this.#cache, this.#caller, this.#epoch, 'reload');
  }

  /** True if an answer that was found is stale. It is given only because a newer one is about to be read. */
  isStale({ freshUntil }: CachedAnswer): boolean {
    return this.#cache.now() >= freshUntil;
  }

  /** The sizes in which it asks for pages; undefined if the request bypasses the cache. */
  get pages(): OperationPages | undefined {
    if (this.#use !== 'normal') return undefined;
    this.#pages ??= new OperationPages(this.#cache, (target) => this.#placeOf('json', target), this.#given);
    return this.#pages;
  }

  /** The answer that may be given without a call, if there is one. Counts the read. */
  find(
    operation: RestOperation,
    kind: AnswerKind,
    target: string,
  ): CachedAnswer | undefined | Promise<CachedAnswer | undefined> {
    const freshness = this.#freshnessOf(operation, target);
    if (freshness === undefined) return undefined;
    const { counts } = this.#cache;
    if (this.#use !== 'normal') {
      if (this.#use !== 'uncounted') counts.add(freshness.noun, 'bypass');
      this.#noteRead(freshness);
      return undefined;
    }
    const found = this.#cache.find(this.#placeOf(kind, target), freshness);
    return found instanceof Promise
      ? found.then((answer) => this.#counted(answer, freshness))
      : this.#counted(found, freshness);
  }

  /** Decides which gateway refreshes a stale answer. If another gateway has done so, its answer is used from now on. */
  refreshOf({ operation, kind, target }: CachedRead): Promise<Refresh> | Refresh {
    const freshness = this.#freshnessOf(operation, target);
    return freshness === undefined ? 'here' : this.#cache.refreshOf(this.#placeOf(kind, target), freshness);
  }

  /** Makes the decoder of a read: it also keeps the answer, under the epoch from before the read. */
  keeping<T>({ kind, decode }: Format<T>, operation: RestOperation, target: string): Format<T>['decode'] {
    const freshness = this.#freshnessOf(operation, target);
    if (freshness === undefined) return decode;
    const isKept = this.#use !== 'none' && this.#use !== 'uncounted';
    const place = this.#placeOf(kind, target);
    return (response) => {
      const value = decode(response);
      if (forbidsKeeping(response.cacheControl)) this.#ending = this.endKept(target);
      else if (isKept) this.#note(this.#cache.keep(place, value, response.text, freshness));
      return value;
    };
  }

  /**
   * Resolves once the cache has stopped giving the answers that this operation found to be untrue; undefined if it found
   * none.
   */
  get ending(): Promise<void> | undefined {
    return this.#ending;
  }

  /**
   * Ends the use of all cached answers of the key if one of these targets had one. It is called when the upstream refuses a
   * target, does not know it, or forbids that it is kept. A target that was never kept ends nothing, because callers can ask
   * for any id.
   */
  async endKept(...targets: readonly string[]): Promise<void> {
    if (!this.#isShared) return;
    const all = new Set(targets.flatMap((target) => [target, ...this.#cache.sizes.others(target)]));
    const places = [...all].flatMap((target) => [this.#placeOf('json', target), this.#placeOf('csv', target)]);
    if (await this.#cache.hasAny(places)) await this.end();
  }

  /** Ends the use of all cached answers of the key. */
  async end(): Promise<void> {
    if (this.#isShared) await this.#cache.end(this.#caller.sharingKey, this.#epoch);
  }

  /** Notes that the upstream accepts the key. */
  prove(): void {
    this.#cache.epochs.prove(this.#caller.sharingKey);
  }

  /**
   * The times for which the answer of a read is used; undefined if it is not kept. A path with `@current` is never kept: its
   * meaning changes without a write, so two answers below it may be about different projects.
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

  /** Notes that the answer about to be read will be fresh for at least `freshMs`, whichever operation's call reads it. */
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
