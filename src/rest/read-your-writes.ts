import { randomUUID } from 'node:crypto';
import { type MaybePromise, mapMaybePromise } from '../maybe-promise.ts';
import { KeyMap } from './key-map.ts';
import type { Attempt, Gate } from './resilience/gate.ts';
import type { KeyTrials } from './resilience/key-trials.ts';
import type { RestRun } from './rest-run.ts';

/**
 * The name under which the answers of an upstream key are kept. A write gives the key a new name, so that answers from
 * before the write are no longer found. Names are random, so that no name is used twice, or by two keys.
 */
export type Epoch = string;

/** The epochs of all upstream keys, by sharing key. */
export interface Epochs {
  /**
   * The epoch of a key; undefined if the key has none, or if it cannot be known now. Then nothing is kept. `isProven`
   * is true if the upstream has shown that it knows the key.
   */
  readonly current: (sharingKey: string, isProven: boolean) => MaybePromise<Epoch | undefined>;
  /** Notes that the upstream knows a key. Invented keys then cannot evict its epoch. */
  readonly prove?: (sharingKey: string) => void;
  /**
   * Ends the epoch of a key for all operations that begin later, at any gateway. Returns the next epoch; undefined in
   * the same cases as `current`. Never rejects.
   */
  readonly renew: (sharingKey: string, isProven: boolean) => MaybePromise<Epoch | undefined>;
  /**
   * Ends the epoch of a key, or of all keys. Resolves to the number of these keys; undefined if a gateway may still use
   * an ended epoch. Never rejects.
   */
  readonly purge: (sharingKey: string | undefined) => Promise<number | undefined>;
}

/** A new epoch of a key; `all`: every key gets a new one at its next use. */
export type EpochChange = { readonly sharingKey: string; readonly epoch: Epoch } | 'all';

/** Sends a change to the other processes. Returns true once they have adopted it, or undefined after a timeout. */
type SendToOthers = (change: EpochChange) => MaybePromise<true | undefined>;

/**
 * Keeps epochs in this process. A renewal waits until the other processes of the gateway have adopted the new epoch.
 */
export class LocalEpochs implements Epochs {
  /** A key that is evicted gets a new epoch, so its answers are read again. */
  readonly #epochs = new KeyMap<Epoch>();
  readonly #sendToOthers: SendToOthers;

  /** By default there are no other processes. */
  constructor(sendToOthers: SendToOthers = () => true) {
    this.#sendToOthers = sendToOthers;
  }

  current(sharingKey: string, isProven: boolean): Epoch {
    const epoch = this.#epochs.get(sharingKey) ?? this.#change(sharingKey).epoch;
    if (isProven) this.prove(sharingKey);
    return epoch;
  }

  prove(sharingKey: string): void {
    this.#epochs.prove(sharingKey);
  }

  renew(sharingKey: string): MaybePromise<Epoch> {
    const change = this.#change(sharingKey);
    return mapMaybePromise(this.#sendToOthers(change), () => change.epoch);
  }

  async purge(sharingKey: string | undefined): Promise<number | undefined> {
    if (sharingKey !== undefined) return (await this.#sendToOthers(this.#change(sharingKey))) && 1;
    const { size } = this.#epochs;
    this.adopt('all');
    return (await this.#sendToOthers('all')) && size;
  }

  /** Adopts a change that another process has made. */
  adopt(change: EpochChange): void {
    if (change === 'all') this.#epochs.clear();
    else this.#epochs.set(change.sharingKey, change.epoch);
  }

  #change(sharingKey: string): Exclude<EpochChange, 'all'> {
    const change = { sharingKey, epoch: randomUUID() };
    this.adopt(change);
    return change;
  }
}

/** The rule by which an operation uses kept answers. */
export type Reuse =
  // The operation may be given earlier answers.
  | 'normal'
  // Everything is read anew, and kept.
  | 'reload'
  // Everything is read anew, and nothing is kept.
  | 'none'
  // Like `none`, but metrics do not count the reads. For the lists of subscriptions, and if no answers are kept.
  | 'uncounted';

let unshared = 0;

/**
 * The epoch that the key of an operation had when the operation began. An operation that writes moves to the new epoch.
 * Only operations with the same epoch share reads. So an operation that begins after the answer to a write gets no
 * older reads.
 */
export class OperationEpoch {
  #epoch: Epoch | undefined;
  /** Stands for an epoch that is not known. It is made only if it is asked for. */
  #substitute: Epoch | undefined;
  #reuse: Reuse;

  /** Without an epoch, the operation uses, keeps and shares no answers. */
  constructor(epoch: Epoch | undefined, reuse: Reuse) {
    this.#reuse = reuse;
    this.moveTo(epoch);
  }

  /** The name of the epoch; without an epoch, a name that no other operation has. */
  get name(): Epoch {
    if (this.#epoch !== undefined) return this.#epoch;
    this.#substitute ??= `unshared ${(unshared += 1)}`;
    return this.#substitute;
  }

  /** True if the epoch is known, so that other operations may have it, too. */
  get isShared(): boolean {
    return this.#epoch !== undefined;
  }

  get reuse(): Reuse {
    return this.#reuse;
  }

  /** True if the operation must not be given earlier answers: its request says so, or its epoch is not known. */
  get isBypassed(): boolean {
    return this.#reuse === 'reload' || this.#reuse === 'none';
  }

  /** True if the answers to the operation's reads are kept. */
  get keeps(): boolean {
    return this.#reuse === 'normal' || this.#reuse === 'reload';
  }

  /** Sets the epoch of later reads, after the operation has written. Without an epoch, they use no kept answers. */
  moveTo(epoch: Epoch | undefined): void {
    this.#epoch = epoch;
    this.#substitute = undefined;
    if (epoch === undefined) this.#reuse = 'none';
  }

  /** The same epoch, for the refresh of a stale answer. */
  forRefresh(): OperationEpoch {
    return new OperationEpoch(this.#epoch, 'reload');
  }
}

/** The gate that renews the epoch of a key before a write is sent. */
export class EpochRenewal implements Gate {
  readonly #epochs: Epochs;
  readonly #keys: KeyTrials;

  constructor(epochs: Epochs, keys: KeyTrials) {
    this.#epochs = epochs;
    this.#keys = keys;
  }

  enter({ run, request }: Attempt): Promise<void> | undefined {
    return request.isWrite ? this.renew(run) : undefined;
  }

  leave(): void {
    // The client renews the epoch again when the write has ended, whatever its outcome.
  }

  readonly renew = ({ caller, epoch }: RestRun): Promise<void> | undefined => {
    const renewed = this.#epochs.renew(caller.sharingKey, this.#keys.isProven(caller));
    if (renewed instanceof Promise) return renewed.then((name) => epoch.moveTo(name));
    epoch.moveTo(renewed);
    return undefined;
  };
}
