import { type Distribution, Tally } from '../../tally.ts';

/** The result of a read whose answer may be cached. */
export type CacheResult =
  // Answered without a call, by a fresh answer.
  | 'hit'
  // Answered without a call, by a stale answer.
  | 'stale'
  // Answered by a call, which may have been under way already.
  | 'miss'
  // Read because the request bypassed the cache.
  | 'bypass';

/** Upper bounds of the buckets of ages, in seconds: usual values of `CACHE_TTL`, and more for stale answers. */
export const ageBounds: readonly number[] = [1, 5, 10, 30, 60, 120, 300, 600, 1200, 3600];

/** Counts reads since the start by noun and result, and the ages of answers that were given without a call. */
export class CacheCounts {
  readonly #byNoun = new Map<string, Record<CacheResult, number>>();
  readonly #ages = new Tally(ageBounds);

  add(noun: string, result: CacheResult): void {
    let counts = this.#byNoun.get(noun);
    if (counts === undefined) {
      counts = { hit: 0, stale: 0, miss: 0, bypass: 0 };
      this.#byNoun.set(noun, counts);
    }
    counts[result] += 1;
  }

  /** Adds the age of a kept answer that was given: the milliseconds since the upstream gave it. */
  addAge(milliseconds: number): void {
    this.#ages.add(milliseconds / 1000);
  }

  /** In seconds. */
  get ages(): Distribution {
    return this.#ages;
  }

  /** The number of reads that were answered without a call. */
  get answered(): number {
    return [...this.#byNoun.values()].reduce((sum, { hit, stale }) => sum + hit + stale, 0);
  }

  /** The numbers of reads, by noun and result. */
  get reads(): ReadonlyMap<string, Readonly<Record<CacheResult, number>>> {
    return this.#byNoun;
  }
}
