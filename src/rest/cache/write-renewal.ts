import { foundNoConnection } from '../failure-reasons.ts';
import { statusOf } from '../operation-calls.ts';
import type { Epoch } from './epochs.ts';
import type { OperationCache } from './operation-cache.ts';
import type { RestCache } from './rest-cache.ts';

/**
 * Keeps answers from before a write, and from while it is under way, from being given after it: the key gets a new epoch
 * before the write is sent, and another when it has ended. A write that was never sent changes nothing.
 */
export class WriteRenewal {
  readonly #cache: RestCache;
  readonly #sharingKey: string;
  /** What the operation that writes has of the cache. */
  readonly #own: OperationCache;
  /** The epoch that the operation had before. */
  readonly #before: Epoch;
  /** The epoch that the key has since the write may be sent; undefined until then. */
  #begun: Promise<Epoch | undefined> | undefined;
  #isSent = false;

  constructor(cache: RestCache, sharingKey: string, own: OperationCache) {
    this.#cache = cache;
    this.#sharingKey = sharingKey;
    this.#own = own;
    this.#before = own.epoch;
  }

  /** The write is about to be sent; it may be once this is done. */
  readonly beforeSend = async (): Promise<void> => {
    this.#begun = this.#renew();
    await this.#begun;
  };

  /** The write is being sent. */
  readonly onSend = (): void => {
    this.#isSent = true;
  };

  /** The outcome of the write, once no operation that begins after it uses what was read before. */
  async endWith<T>(outcome: Promise<T>): Promise<T> {
    try {
      const answer = await outcome;
      const epoch = await this.#renew();
      if (epoch !== undefined) this.#cache.epochs.prove(this.#sharingKey, epoch);
      return answer;
    } catch (error) {
      await this.#fail(error);
      throw error;
    }
  }

  /** The write has failed. One that is given up while its epoch is made is sent no more. */
  async #fail(error: unknown): Promise<void> {
    if (this.#begun === undefined) return;
    const begun = await this.#begun;
    if (begun !== undefined && (!this.#isSent || foundNoConnection(error))) return this.#undo(begun);
    await this.#renew();
    // What has no answer may still arrive, at the latest when the upstream gives it up. A 5xx may be that of a proxy.
    if ((statusOf(error) ?? 500) >= 500) setTimeout(() => void this.#renew(), this.#cache.lateMs).unref();
  }

  async #renew(): Promise<Epoch | undefined> {
    const epoch = await this.#cache.epochs.renew(this.#sharingKey);
    this.#own.moveTo(epoch);
    return epoch;
  }

  #undo(begun: Epoch): void {
    this.#cache.epochs.undo(this.#sharingKey, begun);
    this.#own.moveTo(this.#before);
  }
}
