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
type ReachabilityState =
  // No call has ended yet.
  | { readonly kind: 'unknown' }
  | { readonly kind: 'answering' }
  // `host` is the host and port of the upstream, or of the proxy if calls fail there.
  | {
      readonly kind: 'failing';
      readonly reason: FailureReason;
      readonly place: FailurePlace;
      readonly host: string;
    };

interface ReachabilityOptions {
  /** The upstream's host and port, as the log shows them. */
  readonly host: string;
  /** The host and port of the proxy on the way there; undefined without one. */
  readonly proxyHost?: string | undefined;
  readonly log: Log;
}

/** Watches how calls end. Counts failures by reason and place, and logs each change of reason or place once. */
export class Reachability implements Gate {
  readonly #options: ReachabilityOptions;
  /** The numbers of failures since the start, at the proxy only if there is one. */
  readonly failures: readonly { readonly reason: FailureReason; readonly place: FailurePlace; count: number }[];
  readonly #logged = new LogThrottle();
  state: ReachabilityState = { kind: 'unknown' };
  /** True if the last logged state is a failure. */
  #isWarned = false;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
    const places = options.proxyHost === undefined ? (['upstream'] as const) : (['upstream', 'proxy'] as const);
    this.failures = places.flatMap((place) => failureReasons.map((reason) => ({ reason, place, count: 0 })));
  }

  enter(): undefined {
    return undefined;
  }

  leave({ mayBeStale }: Attempt, outcome: Outcome): void {
    if (outcome.kind === 'not-sent') return;
    if (outcome.kind === 'given-up') {
      for (let left = outcome.timeouts; left > 0; left -= 1) this.failedFor('TIMEOUT');
      return;
    }
    const fault = outcome.kind === 'failed' ? outcome.fault : undefined;
    if (fault === 'no-room' || (fault === 'stale-socket' && mayBeStale)) return;
    const { error } = outcome;
    const reason = error === undefined ? undefined : reasonOf(error);
    if (reason !== undefined) return this.failedFor(reason, error);
    // If the path of the upstream's URL is wrong, all calls get 404. So a 404 does not show that the API answers again.
    const isWrongPath = this.state.kind === 'failing' && this.state.reason === 'WRONG_PATH';
    if (!isWrongPath || !isNotFound(error)) this.answered();
  }

  /** Notes that the API has answered a call, with any status. */
  answered(): void {
    if (this.state.kind === 'answering') return;
    this.state = { kind: 'answering' };
    if (!this.#isWarned) return;
    this.#isWarned = false;
    this.#options.log('info', 'upstream answers again', { host: this.#options.host });
  }

  /** Counts a failed call. The error shows the place; without one it is the upstream. */
  failedFor(reason: FailureReason, error?: unknown): void {
    const { host: upstream, proxyHost = '', log } = this.#options;
    const place = placeOf(error);
    const host = place === 'proxy' ? proxyHost : upstream;
    const counted = this.failures.find((failure) => failure.reason === reason && failure.place === place);
    if (counted !== undefined) counted.count += 1;
    const last = this.state;
    if (last.kind === 'failing' && last.reason === reason && last.place === place) return;
    this.state = { kind: 'failing', reason, place, host };
    if (!this.#logged.mayLog(`${place} ${reason}`)) return;
    this.#isWarned = true;
    const status = proxyStatusOf(error);
    const facts = { host, reason, ...(status !== undefined && { status }), meaning: meaningOf(reason, place) };
    if (place === 'proxy') log('warn', 'proxy on the way to the upstream fails', { ...facts, upstream });
    else log('warn', 'upstream fails', facts);
  }
}
