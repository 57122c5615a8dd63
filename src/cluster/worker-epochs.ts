import { type Epoch, type Epochs, LocalEpochs } from '../rest/cache/epochs.ts';
import { createPending } from './pending.ts';

/** Longest time that a write waits for the other workers, in milliseconds; the primary gives up a little sooner. */
const timeoutMs = 6000;

/** A new epoch of a key, which all workers have to know of; `all`: each key gets one. */
export type EpochChange = { readonly sharingKey: string; readonly epoch: Epoch } | 'all';

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

  async renew(sharingKey: string): Promise<Epoch> {
    const epoch = this.#own.renew(sharingKey);
    await this.#changes.ask((id) => this.#sendToOthers(id, { sharingKey, epoch }));
    return epoch;
  }

  async purge(sharingKey: string | undefined): Promise<number | undefined> {
    const count = await this.#own.purge(sharingKey);
    const change = sharingKey === undefined ? 'all' : { sharingKey, epoch: this.#own.current(sharingKey) };
    const hasAll = await this.#changes.ask((id) => this.#sendToOthers(id, change));
    return hasAll === undefined ? undefined : count;
  }

  /** Another worker has made an epoch, or ended all. */
  adopt(change: EpochChange): void {
    if (change === 'all') this.#own.forgetAll();
    else this.#own.adopt(change.sharingKey, change.epoch);
  }

  /** All others have the change of this id. */
  changed(id: number): void {
    this.#changes.answer(id, true);
  }
}
