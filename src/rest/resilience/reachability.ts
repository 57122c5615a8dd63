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

/** What the last call says of the way to the upstream. */
export type ReachabilityState =
  // No call has ended yet.
  { readonly kind: 'unknown' } | { readonly kind: 'answering' } | ({ readonly kind: 'failing' } & Failing);

/** Why and where calls fail. */
interface Failing {
  readonly reason: FailureReason;
  readonly place: FailurePlace;
  /** Host and port of the upstream, or of the proxy if that is the place. */
  readonly host: string;
}

/** How often calls have failed for a reason. */
export interface FailureCount {
  readonly reason: FailureReason;
  readonly place: FailurePlace;
  readonly count: number;
}

/** Settings of the watch. */
export interface ReachabilityOptions {
  /** The upstream's host and port, as the log names it. */
  readonly host: string;
  /** The host and port of the proxy on the way there; undefined without one. */
  readonly proxyHost?: string | undefined;
  readonly log: Log;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Watches how calls end, counts failures by reason and place, and logs each change of these once. */
export class Reachability implements Gate {
  readonly #options: ReachabilityOptions;
  readonly #failures: Readonly<Record<FailurePlace, Map<FailureReason, number>>>;
  readonly #logged: LogThrottle;
  #state: ReachabilityState = { kind: 'unknown' };
  /** True if the log's last word is that calls fail. */
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

  /** How often calls failed for each reason since the start; at the proxy, if there is one. */
  get failures(): readonly FailureCount[] {
    const { upstream, proxy } = this.#failures;
    return [
      ...[...upstream].map(([reason, count]) => ({ reason, place: 'upstream', count }) as const),
      ...[...proxy].map(([reason, count]) => ({ reason, place: 'proxy', count }) as const),
    ];
  }

  /** It keeps nothing back. */
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
    if (reason !== undefined) return this.failedFor(reason, error);
    // What answers 404 to every path answers 404 to this one, too.
    const isWrongPath = this.#state.kind === 'failing' && this.#state.reason === 'WRONG_PATH';
    if (!isWrongPath || !isNotFound(error)) this.answered();
  }

  /** A call failed for a reason. The error, if there is one, tells where. */
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
