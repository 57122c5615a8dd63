import type { RestOperation } from '../operation-ids.ts';
import type { CachedAnswer } from './cached-answers.ts';
import type { Freshness } from './freshness.ts';
import type { GivenAnswers } from './given-answers.ts';
import type { AnswerPlace, RestCache } from './rest-cache.ts';

/** Chooses the sizes in which one operation asks for pages of lists, so that a cached larger page can answer it. */
export class OperationPages {
  readonly #cache: RestCache;
  readonly #placeOf: (target: string) => AnswerPlace;
  readonly #given: GivenAnswers;
  /** The share of a page that is wanted, by target; only pages that are larger than what is wanted have one. */
  readonly #shares = new Map<string, number>();

  /** `placeOf` gives the place of the answer to a target. `given` notes the names that had no fresh answer. */
  constructor(cache: RestCache, placeOf: (target: string) => AnswerPlace, given: GivenAnswers) {
    this.#cache = cache;
    this.#placeOf = placeOf;
    this.#given = given;
  }

  /**
   * The best size to ask for, of those that hold `limit` rows. It is the smallest size of which this process has a fresh
   * page; else that of the freshest stale page; else `limit`.
   */
  sizeOf(operation: RestOperation, targetOf: (size: number) => string, limit: number): number {
    const freshness = this.#cache.freshnessOf(operation);
    if (freshness === undefined) return limit;
    const now = this.#cache.now();
    const above = this.#cache.sizes.ask(targetOf(limit), now);
    if (above.length === 0) return limit;
    const size = this.#bestOf([limit, ...above], targetOf, freshness, now);
    this.#noteShare(targetOf(size), limit / size);
    return size;
  }

  /** The part of the page at a target that the operation wants, from 0 to 1. */
  shareOf(target: string): number {
    return this.#shares.get(target) ?? 1;
  }

  /**
   * The target of the call that refreshes a stale answer. It is the largest size that operations have asked for while
   * answers are used (fresh and stale time together), of those that the key has kept. So one call refreshes all sizes, and a
   * large size that operations no longer ask for is forgotten.
   */
  refreshTargetOf(operation: RestOperation, target: string): string {
    const freshness = this.#cache.freshnessOf(operation);
    if (freshness === undefined) return target;
    const { sizes } = this.#cache;
    const asked = sizes.askedSince(target, this.#cache.now() - freshness.freshMs - freshness.staleMs);
    const larger = sizes.larger(target);
    const isUseful = (one: string): boolean => !larger.includes(one) || this.#findHere(one, freshness) !== undefined;
    return asked.findLast(isUseful) ?? target;
  }

  #bestOf(sizes: readonly number[], targetOf: (size: number) => string, freshness: Freshness, now: number): number {
    const missing: string[] = [];
    const [wanted = 0] = sizes;
    let newest = { size: wanted, freshUntil: Number.NEGATIVE_INFINITY };
    for (const size of sizes) {
      const { name } = this.#placeOf(targetOf(size));
      const freshUntil = this.#findHere(targetOf(size), freshness)?.freshUntil ?? Number.NEGATIVE_INFINITY;
      if (freshUntil > now) {
        this.#given.addMissing(missing);
        return size;
      }
      missing.push(name);
      if (freshUntil > newest.freshUntil) newest = { size, freshUntil };
    }
    return newest.size;
  }

  /** Adds a share, because an operation may want several parts of one page. */
  #noteShare(target: string, share: number): void {
    const known = this.#shares.get(target) ?? 0;
    this.#shares.set(target, Math.min(1, known + share));
  }

  #findHere(target: string, freshness: Freshness): CachedAnswer | undefined {
    return this.#cache.findHere(this.#placeOf(target), freshness);
  }
}
