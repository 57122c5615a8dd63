import type { RestOperation } from '../operation-ids.ts';
import type { DecodedResponse } from '../transport/decode-response.ts';
import { type CacheUse, forbidsKeeping } from './cache-use.ts';
import { CachedAnswer, weightOf } from './cached-answers.ts';
import type { Epoch } from './epochs.ts';
import type { RestCache } from './rest-cache.ts';

/** What an answer is read as: the same target may be asked for both ways. */
export type AnswerKind = 'json' | 'csv';

/** How answers of one kind are understood. */
interface Format<T> {
  readonly kind: AnswerKind;
  readonly decode: (response: DecodedResponse) => T;
}

/** What one operation has of the cache: the answers of its key under the epoch that it began with. */
export class OperationCache {
  readonly use: CacheUse;
  readonly #cache: RestCache;
  #epoch: Epoch;
  #freshUntil = Number.POSITIVE_INFINITY;

  constructor(cache: RestCache, epoch: Epoch, use: CacheUse) {
    this.#cache = cache;
    this.#epoch = epoch;
    this.use = use;
  }

  /** Reads in flight are shared under it, too. */
  get epoch(): Epoch {
    return this.#epoch;
  }

  /** For how long all answers stay fresh that the operation was given, in milliseconds; those that are not kept do for ever. */
  get freshMs(): number {
    return this.#freshUntil - this.#cache.now();
  }

  /** The operation has written: its reads from now on are those of this epoch. */
  moveTo(epoch: Epoch): void {
    this.#epoch = epoch;
  }

  /** The same for what reads an answer anew and keeps it. */
  forRefresh(): OperationCache {
    return new OperationCache(this.#cache, this.#epoch, 'reload');
  }

  /** Whether an answer that was found is too old, and only given because a newer one is about to be read. */
  isStale({ freshUntil }: CachedAnswer): boolean {
    return this.#cache.now() >= freshUntil;
  }

  /** The answer to a read, if there is one that may be given without a call. Counts the read. */
  find(operation: RestOperation, kind: AnswerKind, target: string): CachedAnswer | undefined {
    const lifetime = this.#cache.lifetimeOf(operation);
    if (lifetime === undefined) return undefined;
    const { counts } = this.#cache;
    if (this.use !== 'normal') {
      counts.add(lifetime.noun, 'bypass');
      return undefined;
    }
    const answer = this.#cache.answers.find(this.#nameOf(kind, target));
    const lateMs = answer === undefined ? Number.POSITIVE_INFINITY : this.#cache.now() - answer.freshUntil;
    if (answer === undefined || lateMs >= lifetime.staleMs) {
      counts.add(lifetime.noun, 'miss');
      return undefined;
    }
    counts.add(lifetime.noun, lateMs < 0 ? 'hit' : 'stale');
    this.#note(answer.freshUntil);
    return answer;
  }

  /** How a read is understood whose answer is kept, under the epoch from before it. */
  keeping<T>({ kind, decode }: Format<T>, operation: RestOperation, target: string): Format<T>['decode'] {
    const lifetime = this.#cache.lifetimeOf(operation);
    if (lifetime === undefined || this.use === 'none') return decode;
    const name = this.#nameOf(kind, target);
    return (response) => {
      const value = decode(response);
      if (forbidsKeeping(response.cacheControl)) return value;
      const { answers, now } = this.#cache;
      const { text } = response;
      const freshUntil = now() + lifetime.freshMs;
      answers.keep(name, new CachedAnswer({ value, size: text.length, bytes: weightOf(name, text), freshUntil }));
      this.#note(freshUntil);
      return value;
    };
  }

  /** The upstream refuses what was asked for, or does not know it: what it once answered is given no more. */
  drop(target: string): void {
    this.#cache.answers.drop(this.#nameOf('json', target));
    this.#cache.answers.drop(this.#nameOf('csv', target));
  }

  /** The upstream does not take the key: nothing that it once answered to it is given any more. */
  refuseKey(sharingKey: string): void {
    this.#cache.refuse(sharingKey, this.#epoch);
  }

  #note(freshUntil: number): void {
    if (freshUntil < this.#freshUntil) this.#freshUntil = freshUntil;
  }

  #nameOf(kind: AnswerKind, target: string): string {
    return `${this.#epoch} ${kind} ${target}`;
  }
}
