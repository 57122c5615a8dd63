import { type Epoch, type Epochs, LocalEpochs } from '../rest/epochs.ts';

/** A new epoch of a key, which all workers must adopt; `all`: every key gets a new one. */
export type EpochChange = { readonly sharingKey: string; readonly epoch: Epoch } | 'all';

/** Sends a change to the other workers. Resolves to true when they have adopted it, or to undefined on a timeout. */
type SendToOthers = (change: EpochChange) => Promise<true | undefined>;

/** The epochs of one worker. A new epoch is sent to all other workers through the primary before it takes effect. */
export class WorkerEpochs implements Epochs {
  readonly #own = new LocalEpochs();
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
    await this.#sendToOthers({ sharingKey, epoch });
    return epoch;
  }

  async purge(sharingKey: string | undefined): Promise<number | undefined> {
    const count = await this.#own.purge(sharingKey);
    const change = sharingKey === undefined ? 'all' : { sharingKey, epoch: this.#own.current(sharingKey) };
    const haveAll = await this.#sendToOthers(change);
    return haveAll === undefined ? undefined : count;
  }

  /** Adopts an epoch of another worker, or ends all epochs. */
  adopt(change: EpochChange): void {
    if (change === 'all') this.#own.forgetAll();
    else this.#own.adopt(change.sharingKey, change.epoch);
  }
}
