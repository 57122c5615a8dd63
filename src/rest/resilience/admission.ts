import { UpstreamError } from '../errors.ts';
import { TransportError } from '../transport/transport.ts';
import type { Breaker } from './breaker.ts';
import type { BreakerRegistry } from './breaker-registry.ts';
import type { ConcurrencyLimiter, Deadline } from './concurrency-limiter.ts';
import type { RateLimitPauses } from './rate-limit-pauses.ts';

/** What decides whether and when a call may go to the upstream; shared by all calls. */
export interface Gates {
  readonly breakers: BreakerRegistry;
  readonly limiter: ConcurrencyLimiter;
  readonly pauses: RateLimitPauses;
  /** The clock that deadlines are on, in milliseconds. */
  readonly now: () => number;
}

/** Who wants what from the upstream. */
export interface Applicant {
  readonly callerHash: string;
  /** Path and query. */
  readonly target: string;
  readonly isWrite: boolean;
  readonly deadline: Deadline;
}

/** One call's way through the gates. Whoever got in has a slot, and gives it back. */
export class Admission {
  readonly #gates: Gates;
  readonly #applicant: Applicant;
  #probed: Breaker | undefined;
  #left = false;
  /** Ends what is waited for at the moment. */
  #wake: (() => void) | undefined;

  constructor(gates: Gates, applicant: Applicant) {
    this.#gates = gates;
    this.#applicant = applicant;
  }

  /** Takes the breaker that this call was let in to probe: its answer is owed to it. */
  takeProbed(): Breaker | undefined {
    const probed = this.#probed;
    this.#probed = undefined;
    return probed;
  }

  /** Whether the call was given up. */
  get isLeft(): boolean {
    return this.#left;
  }

  /** Undefined where the call may start at once, which is nearly always. Fails where it may not start in time. */
  enter(): Promise<void> | undefined {
    const { pauses, breakers, limiter } = this.#gates;
    if (!this.#left && pauses.none && breakers.calm && limiter.take(this.#applicant.callerHash)) return undefined;
    return this.#enterSlowly();
  }

  /** Waits, unless the call is given up meanwhile. */
  async sleep(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    await promise;
    this.#wake = undefined;
    this.#refuseLeft();
  }

  /** Gives the call up, wherever it waits. */
  leave(): void {
    this.#left = true;
    this.#wake?.();
  }

  async #enterSlowly(): Promise<void> {
    const { breakers, limiter } = this.#gates;
    const { callerHash, target, isWrite } = this.#applicant;
    for (;;) {
      await this.#waitOutPause();
      this.#refuseLeft();
      const verdict = breakers.enter(callerHash, target, isWrite);
      switch (verdict.kind) {
        case 'pass':
          return limiter.take(callerHash) ? undefined : this.#queue();
        case 'probe':
          this.#probed = verdict.breaker;
          limiter.seize(callerHash);
          return;
        case 'wait':
          await verdict.trial;
          break;
        case 'refuse':
          throw new UpstreamError('UPSTREAM_UNAVAILABLE');
      }
    }
  }

  /** Reads wait where the pause ends in time; a write is its caller's to repeat. */
  async #waitOutPause(): Promise<void> {
    const { pauses, now } = this.#gates;
    const { callerHash, target, isWrite, deadline } = this.#applicant;
    for (;;) {
      const remaining = pauses.remaining(callerHash, target);
      if (remaining === 0) return;
      const delayMs = isWrite ? undefined : pauses.reserveDelay(callerHash, target, deadline.endsAt - now());
      if (delayMs === undefined) throw new UpstreamError('RATE_LIMITED', { retryAfter: Math.ceil(remaining / 1000) });
      await this.sleep(delayMs);
    }
  }

  async #queue(): Promise<void> {
    const { callerHash, deadline } = this.#applicant;
    const { started, leave } = this.#gates.limiter.queue(callerHash, deadline);
    this.#wake = leave;
    await started;
    this.#wake = undefined;
    if (!this.#left) return;
    this.#gates.limiter.release(callerHash, 0);
    this.#refuseLeft();
  }

  #refuseLeft(): void {
    if (this.#left) throw new TransportError('aborted');
  }
}
