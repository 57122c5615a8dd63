import type { RestOperation } from '../operation-ids.ts';
import type { CachedAnswer } from './cached-answers.ts';
import type { Freshness } from './freshness.ts';
import type { GivenAnswers } from './given-answers.ts';
import type { AnswerPlace, RestCache } from './rest-cache.ts';

/** In which sizes one operation asks for pages of lists. */
export class OperationPages {
  readonly #cache: RestCache;
  readonly #placeOf: (target: string) => AnswerPlace;
  readonly #given: GivenAnswers;
  /** By target, of pages that are larger than what is wanted of them. */
  readonly #shares = new Map<string, number>();

  /** `placeOf` says where the operation finds the answer to a target; `given` notes what it does not find. */
  constructor(cache: RestCache, placeOf: (target: string) => AnswerPlace, given: GivenAnswers) {
    this.#cache = cache;
    this.#placeOf = placeOf;
    this.#given = given;
  }

  /**
   * The size that a page is best asked for in, of those that hold `limit` rows: that of the smallest one in time that this
   * process has, else of the newest one that is too old, else what is wanted.
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

  /** How much of the page at a target the operation wants, from 0 to 1. */
  shareOf(target: string): number {
    return this.#shares.get(target) ?? 1;
  }

  /**
   * What is read anew in place of an answer that is too old. Of a page that is the largest size that operations have asked
   * for within the time in which answers are used, of those that the key has kept: so one call refreshes all sizes, and a
   * large one that is wanted no more is forgotten.
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

  /** Several parts of one page may be wanted. */
  #noteShare(target: string, share: number): void {
    const known = this.#shares.get(target) ?? 0;
    this.#shares.set(target, Math.min(1, known + share));
  }

  #findHere(target: string, freshness: Freshness): CachedAnswer | undefined {
    return this.#cache.findHere(this.#placeOf(target), freshness);
  }
}
