import { type Epoch, type Epochs, LocalEpochs } from '../rest/cache/epochs.ts';
import { createPending } from './pending.ts';

/** Longest time that a write waits for the other workers, in milliseconds; the primary gives up a little sooner. */
const timeoutMs = 6000;

/** A new epoch of a key, which all workers have to know of. */
export interface EpochChange {
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

  async renew(sharingKey: string): Promise<Epoch> {
    const epoch = this.#own.renew(sharingKey);
    await this.#changes.ask((id) => this.#sendToOthers(id, { sharingKey, epoch }));
    return epoch;
  }

  /** Another worker has made an epoch. */
  adopt({ sharingKey, epoch }: EpochChange): void {
    this.#own.adopt(sharingKey, epoch);
  }

  /** All others have the change of this id. */
  changed(id: number): void {
    this.#changes.answer(id, true);
  }
}
