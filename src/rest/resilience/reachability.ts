import { type Log, LogThrottle } from '../../log.ts';
import { isNotFound } from '../errors.ts';
import { type FailureReason, failureReasons, meaningOf, reasonOf } from '../failure-reasons.ts';

/** What the last call says of the way to the upstream. */
export type ReachabilityState =
  // No call has ended yet.
  | { readonly kind: 'unknown' }
  | { readonly kind: 'answering' }
  | { readonly kind: 'failing'; readonly reason: FailureReason };

/** Settings of the watch. */
export interface ReachabilityOptions {
  /** The upstream's host and port, as the log names it. */
  readonly host: string;
  readonly log: Log;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Watches how calls end, counts failures by reason, and logs each change of the reason once. */
export class Reachability {
  readonly #options: ReachabilityOptions;
  readonly #failures = new Map<FailureReason, number>(failureReasons.map((reason) => [reason, 0]));
  readonly #logged: LogThrottle;
  #state: ReachabilityState = { kind: 'unknown' };
  /** Whether the log's last word is that calls fail. */
  #isWarned = false;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
    this.#logged = new LogThrottle(options.now);
  }

  get state(): ReachabilityState {
    return this.#state;
  }

  /** How often calls failed for each reason since the start. */
  get failures(): ReadonlyMap<FailureReason, number> {
    return this.#failures;
  }

  /** The API answered a call, whatever it said. */
  answered(): void {
    if (this.#state.kind === 'answering') return;
    this.#state = answering;
    if (!this.#isWarned) return;
    this.#isWarned = false;
    this.#options.log('info', 'upstream answers again', { host: this.#options.host });
  }

  /** A call failed; what the API refused itself does not count. */
  failed(error: unknown): void {
    const reason = reasonOf(error);
    if (reason !== undefined) return this.failedFor(reason);
    // What answers 404 to every path answers 404 to this one, too.
    const isWrongPath = this.#state.kind === 'failing' && this.#state.reason === 'WRONG_PATH';
    if (!isWrongPath || !isNotFound(error)) this.answered();
  }

  /** A call failed for a reason. */
  failedFor(reason: FailureReason): void {
    const { host, log } = this.#options;
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
    const isNews = this.#state.kind !== 'failing' || this.#state.reason !== reason;
    this.#state = isNews ? { kind: 'failing', reason } : this.#state;
    if (!isNews || !this.#logged.takes(reason)) return;
    this.#isWarned = true;
    log('warn', 'upstream fails', { host, reason, meaning: meaningOf(reason) });
  }
}

const answering: ReachabilityState = { kind: 'answering' };
