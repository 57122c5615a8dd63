import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Renewals } from './renewals.ts';

/**
 * What an upstream key's answers are kept under. A write gives the key a new one, so that no answer from before it is found
 * any more. No value is made twice, by any process, and no two keys ever have the same one.
 */
export type Epoch = string;

/** The epochs of all keys. Keys are named by their sharing key. */
export interface Epochs {
  /** The epoch of a key; undefined if it cannot be known at the moment: then nothing of the cache may be used. */
  readonly current: (sharingKey: string) => Epoch | undefined | Promise<Epoch | undefined>;
  /** The upstream has answered a read under this epoch with a success: the key is not one that a caller has invented. */
  readonly prove: (sharingKey: string, epoch: Epoch) => void;
  /** The upstream did not take the key: if it has an epoch, it gets a new one. */
  readonly refuse: (sharingKey: string) => void;
  /** Gives a key a new epoch. Once it is done, no operation that begins anywhere uses the old one. Never rejects. */
  readonly renew: (sharingKey: string) => Epoch | undefined | Promise<Epoch | undefined>;
  /** The write for which a key was renewed was never sent: the epoch before is taken up again if there is no later one. */
  readonly undo: (sharingKey: string, renewed: Epoch) => void;
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
  readonly #renewals = new Renewals();
  readonly #process = randomUUID();
  #last = 0;

  current(sharingKey: string): Epoch {
    return this.#known(sharingKey) ?? this.renew(sharingKey);
  }

  prove(sharingKey: string): void {
    const epoch = this.#unproven.get(sharingKey);
    if (epoch === undefined) return;
    this.#unproven.delete(sharingKey);
    this.#proven.set(sharingKey, epoch);
  }

  refuse(sharingKey: string): void {
    this.renew(sharingKey);
  }

  renew(sharingKey: string): Epoch {
    this.#last += 1;
    const epoch = `${this.#process}-${this.#last.toString(36)}`;
    this.take(sharingKey, epoch);
    return epoch;
  }

  /** A key has an epoch that another process has made. */
  take(sharingKey: string, epoch: Epoch): void {
    const before = this.#known(sharingKey);
    if (before !== undefined) this.#renewals.note(epoch, before);
    this.#set(sharingKey, epoch);
  }

  undo(sharingKey: string, renewed: Epoch): void {
    const before = this.#renewals.undo(renewed);
    if (before !== undefined && this.#known(sharingKey) === renewed) this.#set(sharingKey, before);
  }

  #known(sharingKey: string): Epoch | undefined {
    return this.#proven.get(sharingKey) ?? this.#unproven.get(sharingKey);
  }

  #set(sharingKey: string, epoch: Epoch): void {
    const epochs = this.#proven.has(sharingKey) ? this.#proven : this.#unproven;
    epochs.set(sharingKey, epoch);
  }
}
