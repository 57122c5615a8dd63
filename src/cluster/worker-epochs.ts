import { type Epoch, type Epochs, LocalEpochs } from '../rest/cache/epochs.ts';
import { createPending } from './pending.ts';

/** Longest time that a write waits for the other workers, in milliseconds; the primary gives up a little sooner. */
const timeoutMs = 6000;

/** An epoch that all workers have to know of: a new one of a key, or one that is not to be used. */
export interface EpochChange {
  readonly kind: 'renewed' | 'undone';
  readonly sharingKey: string;
  readonly epoch: Epoch;
}

/** Tells the other workers of a change; `changed` is to be called with the id when they have it. */
type SendToOthers = (id: number, change: EpochChange) => void;

/** The epochs of one worker. A new one is sent to all others, through the primary, before anything follows from it. */
export class WorkerEpochs implements Epochs {
  readonly #own = new LocalEpochs();
  /** There are as many at a time as writes, which have a limit of their own. */
  readonly #changes = createPending<true>(timeoutMs, Number.POSITIVE_INFINITY);
  readonly #sendToOthers: SendToOthers;

  constructor(sendToOthers: SendToOthers) {
    this.#sendToOthers = sendToOthers;
  }

  current(sharingKey: string): Epoch {
    return this.#own.current(sharingKey);
  }

  prove(sharingKey: string): void {
    this.#own.prove(sharingKey);
  }

  refuse(sharingKey: string): void {
    void this.renew(sharingKey);
  }

  async renew(sharingKey: string): Promise<Epoch> {
    const epoch = this.#own.renew(sharingKey);
    await this.#send({ kind: 'renewed', sharingKey, epoch });
    return epoch;
  }

  undo(sharingKey: string, renewed: Epoch): void {
    const change: EpochChange = { kind: 'undone', sharingKey, epoch: renewed };
    this.take(change);
    void this.#send(change);
  }

  /** Another worker has changed an epoch. */
  take({ kind, sharingKey, epoch }: EpochChange): void {
    if (kind === 'renewed') this.#own.take(sharingKey, epoch);
    else this.#own.undo(sharingKey, epoch);
  }

  /** All others have the change of this id. */
  changed(id: number): void {
    this.#changes.answer(id, true);
  }

  async #send(change: EpochChange): Promise<void> {
    await this.#changes.ask((id) => this.#sendToOthers(id, change));
  }
}
