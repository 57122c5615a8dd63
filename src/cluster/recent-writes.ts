import { LRUCache } from 'lru-cache';
import type { EpochChange } from './worker-epochs.ts';

/** Most keys of one worker that are remembered. */
const mostKeys = 10_000;

/** With which keys each worker has written lately: writes under way when it ends may still arrive, and it cannot say when. */
export class RecentWrites<Worker extends object> {
  readonly #keys = new WeakMap<Worker, LRUCache<string, true>>();
  readonly #lastMs: number;

  /** No write is under way for longer than `lastMs`, in milliseconds. */
  constructor(lastMs: number) {
    this.#lastMs = lastMs;
  }

  /** A worker has changed an epoch, which it does before and after each write. */
  note(worker: Worker, change: EpochChange): void {
    if (change === 'all') return;
    let keys = this.#keys.get(worker);
    if (keys === undefined) {
      keys = new LRUCache({ max: mostKeys, ttl: this.#lastMs });
      this.#keys.set(worker, keys);
    }
    keys.set(change.sharingKey, true);
  }

  /** The sharing keys with which a worker may have had a write under way. */
  of(worker: Worker): readonly string[] {
    return [...(this.#keys.get(worker)?.keys() ?? [])];
  }
}
