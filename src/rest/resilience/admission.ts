import type { CallBudget, Permit } from '../budget/call-budget.ts';
import { isRateLimited, UpstreamError } from '../errors.ts';
import { TransportError } from '../transport/transport.ts';
import type { Breaker } from './breaker.ts';
import type { CallOwner, CallRequest } from './call-request.ts';
import type { Deadline } from './concurrency-limiter.ts';
import type { UpstreamResources } from './upstream-resources.ts';

/** What is admitted: reads and writes differ in what they wait for. */
type Admitted = Pick<CallRequest<unknown>, 'operation' | 'isWrite'>;

/** What those who wait for a call want of it; that changes as others join. */
interface Awaited extends Deadline {
  /** Whether no client waits for it: then it takes no call that others may need. */
  readonly isBackground: boolean;
}

/** A call has enough time, most likely, if so many times as much is left as calls take lately. */
const usualFactor = 1.5;

/**
 * How long a call of which `leftMs` are left may wait for its place in the budget, all in milliseconds. A read waits for as long
 * as it has the time that calls take lately, after that; a write at most half of its time: its client waits for all of it to
 * know what became of it.
 */
function budgetWaitMs({ limiter }: Pick<UpstreamResources, 'limiter'>, leftMs: number, isWrite: boolean): number {
  return isWrite ? leftMs / 2 : leftMs - Math.min(leftMs / 2, usualFactor * limiter.meanMs);
}

/** The waiting of one call that cannot be sent at once. */
export class Admission {
  readonly #upstream: UpstreamResources;
  readonly #owner: Pick<CallOwner, 'caller' | 'calls'>;
  readonly #request: Admitted;
  readonly #awaited: Awaited;
  #isCancelled = false;
  /** Its place in the budget of calls, from the moment it has one until it is given back. */
  #permit: Permit | undefined;
  /** Ends what is waited for at the moment. */
  #wake: (() => void) | undefined;

  /** For how long the attempt in flight was kept back before it was sent, in milliseconds. */
  heldMs = 0;

  constructor(
    upstream: UpstreamResources,
    owner: Pick<CallOwner, 'caller' | 'calls'>,
    request: Admitted,
    awaited: Awaited,
  ) {
    this.#upstream = upstream;
    this.#owner = owner;
    this.#request = request;
    this.#awaited = awaited;
  }

  /**
   * Waits until the call has a slot of the limiter, which it gives back. Resolves to the breaker that lets it pass as a
   * probe, if one does. Each step can refuse it: RATE_LIMITED, UNAUTHENTICATED, UPSTREAM_UNAVAILABLE, OVERLOADED.
   */
  async enter(): Promise<Breaker | undefined> {
    const { now } = this.#upstream;
    const from = now();
    const probed = await this.#pass();
    this.heldMs = now() - from;
    return probed;
  }

  /** The call was sent, and has ended with a status; undefined: there was none. */
  ended(status: number | undefined): void {
    const isProof = status !== undefined && status < 500 && ![401, 403, 429].includes(status);
    this.#permit?.end(isProof ? 'proof' : this.#isCancelled ? 'given up' : 'failure');
    this.#permit = undefined;
  }

  /** The call was not sent. */
  giveBack(): void {
    this.#upstream.keys.left(this.#owner.caller, this.#awaited);
    this.#permit?.giveBack();
    this.#permit = undefined;
  }

  /** Waits, unless the call is cancelled meanwhile. */
  async sleep(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    await promise;
    this.#wake = undefined;
    this.#refuseCancelled();
  }

  /** The call is given up: what is waited for ends. */
  cancel(): void {
    this.#isCancelled = true;
    this.#wake?.();
  }

  async #pass(): Promise<Breaker | undefined> {
    const { keys, breakers, limiter, callBudget } = this.#upstream;
    const { sharingKey, queueKey } = this.#owner.caller;
    const { operation, isWrite } = this.#request;
    try {
      for (;;) {
        await this.#waitOutPause();
        this.#refuseCancelled();
        if (!keys.enter(this.#owner.caller, this.#awaited)) {
          await this.#waitForProof();
          // A pause may have begun meanwhile.
          continue;
        }
        if (this.#permit === undefined && callBudget?.covers(operation.surface) === true) {
          this.#permit = await this.#claim(callBudget);
          continue;
        }
        const verdict = breakers.enter(sharingKey, isWrite);
        switch (verdict.kind) {
          case 'refuse':
            throw new UpstreamError('UPSTREAM_UNAVAILABLE');
          case 'wait':
            await verdict.trial;
            break;
          case 'probe':
            limiter.seize(queueKey);
            return verdict.breaker;
          case 'pass':
            if (!limiter.take(queueKey)) await this.#queue();
            return undefined;
        }
      }
    } catch (error) {
      this.giveBack();
      throw error;
    }
  }

  /** Reads wait if the pause ends in time; a write is its client's to repeat. */
  async #waitOutPause(): Promise<void> {
    const { pauses, now } = this.#upstream;
    const { sharingKey } = this.#owner.caller;
    const { operation, isWrite } = this.#request;
    for (;;) {
      const remaining = pauses.remaining(sharingKey, operation);
      if (remaining === 0) return;
      const delayMs = isWrite ? undefined : pauses.reserveDelay(sharingKey, operation, this.#awaited.endsAt - now());
      if (delayMs === undefined) throw new UpstreamError('RATE_LIMITED', { retryAfter: Math.ceil(remaining / 1000) });
      await this.sleep(delayMs);
    }
  }

  async #waitForProof(): Promise<void> {
    const { started, leave } = this.#upstream.keys.wait(this.#owner.caller, this.#awaited);
    this.#wake = leave;
    await started;
    this.#wake = undefined;
  }

  async #claim(callBudget: CallBudget): Promise<Permit> {
    const { now, budgetCounts } = this.#upstream;
    const { calls } = this.#owner;
    const { sharingKey: key, queueKey, subject = '' } = this.#owner.caller;
    const { isWrite, operation } = this.#request;
    const { isBackground } = this.#awaited;
    const { surface } = operation;
    const waitMs = budgetWaitMs(this.#upstream, this.#awaited.endsAt - now(), isWrite);
    const { permit, leave } = callBudget.claim({ key, surface, queueKey, subject, waitMs, isBackground }, calls);
    this.#wake = leave;
    try {
      const had = await permit;
      if (had.waited) budgetCounts.waited(surface);
      budgetCounts.found(surface, had.left);
      return had;
    } catch (error) {
      // A client has joined it meanwhile, which may have the calls that are left for others.
      if (isRateLimited(error) && isBackground && !this.#awaited.isBackground) return await this.#claim(callBudget);
      throw error;
    } finally {
      this.#wake = undefined;
    }
  }

  async #queue(): Promise<void> {
    const { queueKey, subject } = this.#owner.caller;
    const { started, leave } = this.#upstream.limiter.queue(queueKey, this.#awaited, subject);
    this.#wake = leave;
    await started;
    this.#wake = undefined;
  }

  #refuseCancelled(): void {
    if (this.#isCancelled) throw new TransportError('aborted');
  }
}
