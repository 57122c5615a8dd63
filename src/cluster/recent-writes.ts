import { RecentMap } from '../recent-map.ts';
import type { EpochChange } from './worker-epochs.ts';

/** The most keys of one worker that are remembered. */
const mostKeys = 10_000;

/**
 * The keys with which each worker has recently written. When a worker ends, its writes under way may still arrive, and it
 * can no longer report them.
 */
export class RecentWrites<Worker extends object> {
  readonly #keys = new WeakMap<Worker, RecentMap<string, true>>();
  readonly #lastMs: number;

  /** `lastMs` is the longest time that a write can be under way, in milliseconds. */
  constructor(lastMs: number) {
    this.#lastMs = lastMs;
  }

  /** Notes that a worker has changed an epoch, which it does before and after each write. */
  note(worker: Worker, change: EpochChange): void {
    if (change === 'all') return;
    let keys = this.#keys.get(worker);
    if (keys === undefined) {
      keys = new RecentMap({ entries: mostKeys, forMs: this.#lastMs });
      this.#keys.set(worker, keys);
    }
    keys.set(change.sharingKey, true);
  }

  /** The sharing keys with which a worker may have had a write under way. */
  of(worker: Worker): readonly string[] {
    return [...(this.#keys.get(worker)?.keys() ?? [])];
  }
}
