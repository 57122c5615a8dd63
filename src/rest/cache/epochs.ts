import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/**
 * What an upstream key's answers are kept under. A write gives the key a new one, so that no answer from before it is found
 * any more. It is a random name: no process makes one twice, and no two keys ever have the same one.
 */
export type Epoch = string;

/** The epochs of all keys. Keys are named by their sharing key. */
export interface Epochs {
  /** The epoch of a key; undefined if it has none, or it cannot be known at the moment: then nothing is cached. */
  readonly current: (sharingKey: string) => Epoch | undefined | Promise<Epoch | undefined>;
  /** The upstream takes the key: it is not one that a caller has invented. */
  readonly prove: (sharingKey: string) => void;
  /**
   * Ends the epoch of a key. Once that is done, no operation that begins anywhere uses it. Answers the next one; undefined as
   * for `current`. Never rejects.
   */
  readonly renew: (sharingKey: string) => Epoch | undefined | Promise<Epoch | undefined>;
  /**
   * Ends the epoch of a key, or of all keys. Answers of how many; undefined if it may be in use still somewhere. Never
   * rejects.
   */
  readonly purge: (sharingKey: string | undefined) => Promise<number | undefined>;
}

/**
 * More keys than are used within a short time. As many more that are not proven are kept apart from them: invented ones
 * drive out none of the others. One that is forgotten gets a new epoch: its answers are read again.
 */
const mostKeys = 10_000;

/** Epochs of one process. */
export class LocalEpochs implements Epochs {
  readonly #proven = new LRUCache<string, Epoch>({ max: mostKeys });
  readonly #unproven = new LRUCache<string, Epoch>({ max: mostKeys });

  current(sharingKey: string): Epoch {
    return this.#proven.get(sharingKey) ?? this.#unproven.get(sharingKey) ?? this.renew(sharingKey);
  }

  prove(sharingKey: string): void {
    const epoch = this.#unproven.get(sharingKey);
    if (epoch === undefined) return;
    this.#unproven.delete(sharingKey);
    this.#proven.set(sharingKey, epoch);
  }

  renew(sharingKey: string): Epoch {
    const epoch = randomUUID();
    this.adopt(sharingKey, epoch);
    return epoch;
  }

  purge(sharingKey: string | undefined): Promise<number> {
    if (sharingKey === undefined) return Promise.resolve(this.forgetAll());
    this.renew(sharingKey);
    return Promise.resolve(1);
  }

  /** Each key gets its next epoch when it is used next. Answers how many had one. */
  forgetAll(): number {
    const count = this.#proven.size + this.#unproven.size;
    this.#proven.clear();
    this.#unproven.clear();
    return count;
  }

  /** A key has an epoch that another process has made. */
  adopt(sharingKey: string, epoch: Epoch): void {
    const epochs = this.#proven.has(sharingKey) ? this.#proven : this.#unproven;
    epochs.set(sharingKey, epoch);
  }
}
