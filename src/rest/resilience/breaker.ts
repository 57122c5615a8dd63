/** The state of a circuit breaker. */
export type BreakerState =
  // Every call passes.
  | 'closed'
  // Just tripped: one call probes, and calls that come meanwhile wait for its result.
  | 'half-open'
  // Calls are refused at once, except for a probe now and then.
  | 'open';

/** The answer of a breaker to a call. */
export type Admission =
  | { readonly kind: 'pass' }
  // This call probes the upstream: its sender reports the result to the breaker.
  | { readonly kind: 'probe'; readonly breaker: Breaker }
  // Another call is probing. Ask again when `trial` settles, which it does within `probeWaitMs`.
  | { readonly kind: 'wait'; readonly trial: Promise<void> }
  | { readonly kind: 'refuse' };

const pass: Admission = { kind: 'pass' };
const refuse: Admission = { kind: 'refuse' };

/** The pause between the first failed probe and the next one, in milliseconds. It doubles with each further failure. */
const firstPauseMs = 50;
const longestPauseMs = 500;

/** The time for which a probe without an answer holds back the next one, in milliseconds. */
const probeMs = 1000;

/** The longest time that the caller of a probe, and the waiters, wait for its result: less than a second. */
export const probeWaitMs = 750;

/**
 * A write probes only if no read has done so for this long, in milliseconds: a write without an answer may still have been
 * made.
 */
const writesLaterMs = 1000;

/** Settings of a breaker. */
export interface BreakerOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly onClose?: () => void;
  readonly onOpen?: () => void;
}

/**
 * Refuses calls to something that does not answer, and probes it with one call at a time until it answers again. Its
 * registry counts failures and decides when to trip it. The first probe may follow the trip at once. If the trip was a
 * mistake, the next call shows that, and no call is refused.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #probeAt = 0;
  #pauseMs = firstPauseMs;
  #trial: PromiseWithResolvers<void> | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Decides on a call that would start now. */
  enter(isWrite: boolean): Admission {
    if (this.#state === 'closed') return pass;
    if (this.#trial !== undefined) return { kind: 'wait', trial: this.#trial.promise };
    if (this.#options.now() < this.#probeAt + (isWrite && this.#state === 'open' ? writesLaterMs : 0)) return refuse;
    this.#probeAt = this.#options.now() + probeMs;
    if (this.#state === 'half-open') this.#trial = Promise.withResolvers();
    return { kind: 'probe', breaker: this };
  }

  /** Trips the breaker: enough calls have failed. */
  trip(): void {
    if (this.#state !== 'closed') return;
    this.#state = 'half-open';
    this.#probeAt = 0;
    this.#pauseMs = firstPauseMs;
  }

  /** Closes the breaker: a probe was answered, or a call from before the trip. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#endTrial();
    this.#options.onClose?.();
  }

  /** Reports a failed probe. */
  fail(): void {
    this.#probeAt = this.#options.now() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    this.#open();
  }

  /** Reports that the probe has no answer within `probeWaitMs`. The answer may still come. */
  overdue(): void {
    this.#open();
  }

  /** Reports that the probe was given up without a result: another call may probe. */
  abandon(): void {
    this.#probeAt = 0;
    this.#endTrial();
  }

  #open(): void {
    if (this.#state === 'closed') return;
    this.#state = 'open';
    this.#endTrial();
    this.#options.onOpen?.();
  }

  #endTrial(): void {
    this.#trial?.resolve();
    this.#trial = undefined;
  }
}
