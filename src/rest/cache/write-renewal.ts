import { UpstreamError } from '../errors.ts';
import { reasonOf } from '../failure-reasons.ts';
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
  #hasBegun = false;
  /** That of the key since the write may be sent. */
  #begun: Epoch | undefined;

  constructor(cache: RestCache, sharingKey: string, own: OperationCache) {
    this.#cache = cache;
    this.#sharingKey = sharingKey;
    this.#own = own;
    this.#before = own.epoch;
  }

  /** The write is about to be sent; it may be once this is done. */
  readonly begin = async (): Promise<void> => {
    this.#hasBegun = true;
    this.#begun = await this.#renew();
  };

  /** The outcome of the write, once no operation that begins after it uses what was read before. */
  async endWith<T>(outcome: Promise<T>): Promise<T> {
    try {
      const answer = await outcome;
      const epoch = await this.#renew();
      if (epoch !== undefined) this.#cache.epochs.prove(this.#sharingKey, epoch);
      return answer;
    } catch (error) {
      if (!this.#hasBegun) throw error;
      if (this.#begun !== undefined && wasNeverSent(error)) this.#undo(this.#begun);
      else {
        await this.#renew();
        // What has no answer may still arrive, at the latest when the upstream gives it up.
        if (statusOf(error) === undefined) setTimeout(() => void this.#renew(), this.#cache.lateMs).unref();
      }
      throw error;
    }
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

/** Whether a failure says that there was no connection to send a write on. */
function wasNeverSent(error: unknown): boolean {
  const reason = error instanceof UpstreamError ? reasonOf(error.cause) : undefined;
  return reason === 'ECONNREFUSED' || reason === 'ENOTFOUND' || reason === 'EAI_AGAIN';
}
