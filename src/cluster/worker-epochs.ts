import { type Epoch, type Epochs, LocalEpochs } from '../rest/cache/epochs.ts';

/** A new epoch of a key, which all workers have to know of; `all`: each key gets one. */
export type EpochChange = { readonly sharingKey: string; readonly epoch: Epoch } | 'all';

/** Tells the other workers of a change; resolves when they have it, to undefined if that is not known in time. */
type SendToOthers = (change: EpochChange) => Promise<true | undefined>;

/** The epochs of one worker. A new one is sent to all others, through the primary, before anything follows from it. */
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

  /** Another worker has made an epoch, or ended all. */
  adopt(change: EpochChange): void {
    if (change === 'all') this.#own.forgetAll();
    else this.#own.adopt(change.sharingKey, change.epoch);
  }
}
