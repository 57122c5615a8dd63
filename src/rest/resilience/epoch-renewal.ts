import type { RestRun } from '../rest-run.ts';
import type { Epochs } from '../write-epochs.ts';
import type { Attempt, Gate } from './gate.ts';
import type { KeyTrials } from './key-trials.ts';

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
