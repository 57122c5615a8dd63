/** Where a circuit breaker stands. */
export type BreakerState =
  // Every call passes.
  | 'closed'
  // Just tripped: one call tries, those that come meanwhile wait for what becomes of it.
  | 'half-open'
  // Calls are refused at once; now and then one tries.
  | 'open';

/** What a breaker says to a call. */
export type Verdict =
  | { readonly kind: 'pass' }
  // This call tries the upstream: its sender reports to the breaker what became of it.
  | { readonly kind: 'probe'; readonly breaker: Breaker }
  // Another call tries at this moment: ask again when `trial` settles, which it does within `probeWaitMs`.
  | { readonly kind: 'wait'; readonly trial: Promise<void> }
  | { readonly kind: 'refuse' };

const pass: Verdict = { kind: 'pass' };
const refuse: Verdict = { kind: 'refuse' };

/** How long after the first failed probe the next one may start, in milliseconds; doubled for each further one. */
const firstPauseMs = 50;
const longestPauseMs = 500;

/** How long a probe without an answer keeps the next one back, in milliseconds. */
const probeMs = 1000;

/** How long the caller of a probe, and those that wait for it, are kept waiting: less than a second. */
export const probeWaitMs = 750;

/** A write probes only if no read has for so long, in milliseconds: one that is not answered may still have been made. */
const writesLaterMs = 1000;

/** Settings of a breaker. */
export interface BreakerOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly onClose?: () => void;
  readonly onOpen?: () => void;
}

/**
 * Refuses calls to something that does not answer, and finds out when it does again, with no more than one probe at a
 * time. Its registry counts failures, and decides when they suffice to trip it. The first probe follows the trip at once:
 * if the trip was a mistake, the next call proves it and none is refused.
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

  /** What a call may do now. */
  enter(isWrite: boolean): Verdict {
    if (this.#state === 'closed') return pass;
    if (this.#trial !== undefined) return { kind: 'wait', trial: this.#trial.promise };
    if (this.#options.now() < this.#probeAt + (isWrite && this.#state === 'open' ? writesLaterMs : 0)) return refuse;
    this.#probeAt = this.#options.now() + probeMs;
    if (this.#state === 'half-open') this.#trial = Promise.withResolvers();
    return { kind: 'probe', breaker: this };
  }

  /** Enough failed. */
  trip(): void {
    if (this.#state !== 'closed') return;
    this.#state = 'half-open';
    this.#probeAt = 0;
    this.#pauseMs = firstPauseMs;
  }

  /** Something answered, a probe or a call that was under way since before the trip. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#endTrial();
    this.#options.onClose?.();
  }

  /** The probe failed. */
  fail(): void {
    this.#probeAt = this.#options.now() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    this.#open();
  }

  /** The probe has no answer within `probeWaitMs`; one may still come. */
  overdue(): void {
    this.#open();
  }

  /** The probe was given up before it said anything: another call may try. */
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
