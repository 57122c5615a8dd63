/** What became of a read whose answer may be cached. */
export type CacheResult =
  // Answered without a call: in time, or too old but not by much.
  | 'hit'
  | 'stale'
  // Read, or joined to a read under way.
  | 'miss'
  // Read because the request wanted it so.
  | 'bypass';

/** Counts reads by noun and result. */
export class CacheCounts {
  readonly #byNoun = new Map<string, Record<CacheResult, number>>();

  add(noun: string, result: CacheResult): void {
    let counts = this.#byNoun.get(noun);
    if (counts === undefined) {
      counts = { hit: 0, stale: 0, miss: 0, bypass: 0 };
      this.#byNoun.set(noun, counts);
    }
    counts[result] += 1;
  }

  /** Reads that were no calls, so far. */
  get answered(): number {
    return [...this.#byNoun.values()].reduce((sum, { hit, stale }) => sum + hit + stale, 0);
  }

  /** Since the start, by noun. */
  get all(): ReadonlyMap<string, Readonly<Record<CacheResult, number>>> {
    return this.#byNoun;
  }
}
