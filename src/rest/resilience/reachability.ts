import { type Log, LogThrottle } from '../../log.ts';
import { isNotFound } from '../errors.ts';
import {
  type FailurePlace,
  type FailureReason,
  failureReasons,
  meaningOf,
  placeOf,
  proxyStatusOf,
  reasonOf,
} from '../failure-reasons.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';

/** The state of the way to the upstream, as the last call found it. */
export type ReachabilityState =
  // No call has ended yet.
  { readonly kind: 'unknown' } | { readonly kind: 'answering' } | ({ readonly kind: 'failing' } & Failing);

/** The reason and the place of failing calls. */
interface Failing {
  readonly reason: FailureReason;
  readonly place: FailurePlace;
  /** Host and port of the upstream, or of the proxy if that is the place. */
  readonly host: string;
}

/** The number of calls that failed for one reason at one place. */
export interface FailureCount {
  readonly reason: FailureReason;
  readonly place: FailurePlace;
  readonly count: number;
}

/** Settings of the watch. */
export interface ReachabilityOptions {
  /** The upstream's host and port, as the log shows them. */
  readonly host: string;
  /** The host and port of the proxy on the way there; undefined without one. */
  readonly proxyHost?: string | undefined;
  readonly log: Log;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Watches how calls end. Counts failures by reason and place, and logs each change of reason or place once. */
export class Reachability implements Gate {
  readonly #options: ReachabilityOptions;
  readonly #failures: Readonly<Record<FailurePlace, Map<FailureReason, number>>>;
  readonly #logged: LogThrottle;
  #state: ReachabilityState = { kind: 'unknown' };
  /** True if the last logged state is a failure. */
  #isWarned = false;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
    const reasonsOf = (isThere: boolean): Map<FailureReason, number> =>
      new Map(isThere ? failureReasons.map((reason) => [reason, 0]) : []);
    this.#failures = { upstream: reasonsOf(true), proxy: reasonsOf(options.proxyHost !== undefined) };
    this.#logged = new LogThrottle(options.now);
  }

  get state(): ReachabilityState {
    return this.#state;
  }

  /** The failures by reason since the start. Those at the proxy are listed only if there is one. */
  get failures(): readonly FailureCount[] {
    const { upstream, proxy } = this.#failures;
    return [
      ...[...upstream].map(([reason, count]) => ({ reason, place: 'upstream', count }) as const),
      ...[...proxy].map(([reason, count]) => ({ reason, place: 'proxy', count }) as const),
    ];
  }

  /** Lets every attempt pass. */
  enter(): undefined {
    return undefined;
  }

  left({ mayBeStale }: Attempt, outcome: Outcome): void {
    if (outcome.kind === 'not-sent') return;
    if (outcome.kind === 'given-up') {
      for (let left = outcome.timeouts; left > 0; left -= 1) this.failedFor('TIMEOUT');
      return;
    }
    const fault = outcome.kind === 'failed' ? outcome.fault : undefined;
    if (fault === 'no-room' || (fault === 'stale-socket' && mayBeStale)) return;
    if (outcome.error === undefined) this.answered();
    else this.failed(outcome.error);
  }

  /** Counts a call that the API answered, with any status. */
  answered(): void {
    if (this.#state.kind === 'answering') return;
    this.#state = answering;
    if (!this.#isWarned) return;
    this.#isWarned = false;
    this.#options.log('info', 'upstream answers again', { host: this.#options.host });
  }

  /** Counts a failed call. Errors of the API itself count as answers. */
  failed(error: unknown): void {
    const reason = reasonOf(error);
    if (reason !== undefined) return this.failedFor(reason, error);
    // A server that answers 404 to every path answers 404 to this one, too.
    const isWrongPath = this.#state.kind === 'failing' && this.#state.reason === 'WRONG_PATH';
    if (!isWrongPath || !isNotFound(error)) this.answered();
  }

  /** Counts a failed call by its reason. The error, if there is one, names the place. */
  failedFor(reason: FailureReason, error?: unknown): void {
    const { host: upstream, proxyHost = '', log } = this.#options;
    const place = placeOf(error);
    const host = place === 'proxy' ? proxyHost : upstream;
    const failures = this.#failures[place];
    failures.set(reason, (failures.get(reason) ?? 0) + 1);
    const { reason: last, place: lastPlace } = this.#state.kind === 'failing' ? this.#state : {};
    if (last === reason && lastPlace === place) return;
    this.#state = { kind: 'failing', reason, place, host };
    if (!this.#logged.takes(`${place} ${reason}`)) return;
    this.#isWarned = true;
    const status = proxyStatusOf(error);
    const facts = { host, reason, ...(status !== undefined && { status }), meaning: meaningOf(reason, place) };
    if (place === 'proxy') log('warn', 'proxy on the way to the upstream fails', { ...facts, upstream });
    else log('warn', 'upstream fails', facts);
  }
}

const answering: ReachabilityState = { kind: 'answering' };
