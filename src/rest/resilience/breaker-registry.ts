import { RecentMap } from '../../recent-map.ts';
import { UpstreamError } from '../errors.ts';
import type { RestOperation } from '../operation-ids.ts';
import { type Admission, Breaker, type BreakerState, probeWaitMs } from './breaker.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';

/** A failure of a call that says something about the upstream. */
type Failure =
  // Refused, reset, unknown host: a caller's query never causes that.
  | { readonly kind: 'network'; readonly tookMs: number }
  // Status 5xx: one caller's query may cause that.
  | { readonly kind: 'server-error' }
  // An operation's deadline passed while the call was in flight: one caller's query may cause that.
  | { readonly kind: 'timeout' };

/** The points without an answer in between that trip a breaker: many, because fast failures do little harm. */
const enough = 50;

/**
 * The points of a failure that took `slowMs` milliseconds or longer. It costs its caller more, so it trips a breaker sooner.
 */
const slowPoints = 10;
const slowMs = 1000;

/** Most keys in trouble that are remembered. */
const mostKeys = 10_000;

/** Settings of the breakers. */
export interface BreakerRegistryOptions {
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** Called when the upstream's breaker opens, and after each further probe that fails. */
  readonly onOpen: () => void;
  /** Called when the upstream's breaker closes. */
  readonly onClose?: () => void;
}

/**
 * Failures without an answer in between, by possible cause. One cause can have at most half of the points that trip a
 * breaker. So at least two causes have to fail, in any order.
 */
class Doubt {
  readonly #points = new Map<string, number>();
  #sum = 0;

  /** Adds a failure. Returns true if the failures suffice to trip a breaker. */
  add(cause: string, points: number): boolean {
    if (this.#sum < enough) {
      const before = this.#points.get(cause) ?? 0;
      const after = Math.min(before + points, enough / 2);
      this.#points.set(cause, after);
      this.#sum += after - before;
    }
    return this.#sum >= enough;
  }
}

/** An attempt that probes for a breaker. */
interface Probe {
  readonly breaker: Breaker;
  readonly timer: NodeJS.Timeout;
}

/** A key whose calls have failed since its last answer. */
interface KeyInTrouble {
  readonly breaker: Breaker;
  readonly doubt: Doubt;
}

/**
 * The breaker of the upstream and, behind it, one breaker for each key in trouble. Lost connections trip the breaker of
 * the upstream. Server errors and timeouts trip it if they come from several keys. They trip the breaker of a key if
 * they come from several of its routes. So one slow or broken query stops neither other callers nor other calls of its
 * caller. Any answer below 500 is a sign of life.
 */
export class BreakerRegistry implements Gate {
  readonly #now: () => number;
  readonly #upstream: Breaker;
  readonly #keys = new RecentMap<string, KeyInTrouble>({ entries: mostKeys });
  readonly #probes = new Map<Attempt, Probe>();
  #networkPoints = 0;
  #doubt: Doubt | undefined;

  constructor({ now, onOpen, onClose }: BreakerRegistryOptions) {
    this.#now = now;
    // The upstream's failure was the cause of the keys' failures, too.
    this.#upstream = new Breaker({
      now,
      onOpen,
      onClose: () => {
        this.#keys.clear();
        onClose?.();
      },
    });
  }

  get state(): BreakerState {
    return this.#upstream.state;
  }

  /** True if no breaker refuses or holds back calls with this key. */
  isCalm(key: string): boolean {
    return this.#upstream.state === 'closed' && (this.#keys.size === 0 || !this.#keys.has(key));
  }

  enter(attempt: Attempt): Promise<void> | undefined {
    return this.isCalm(attempt.owner.caller.sharingKey) ? undefined : this.#ask(attempt);
  }

  left(attempt: Attempt, outcome: Outcome): void {
    const probed = this.#removeProbe(attempt);
    const { sharingKey } = attempt.owner.caller;
    const failure = failureIn(attempt, outcome);
    if (failure !== undefined) {
      const times = outcome.kind === 'given-up' ? outcome.timeouts : 1;
      for (let time = 0; time < times; time += 1) this.failed(failure, sharingKey, attempt.request.operation);
      probed?.fail();
    } else if (outcome.kind === 'answered' || (outcome.kind === 'failed' && outcome.fault === 'invalid')) {
      this.succeeded(sharingKey);
      probed?.close();
    } else probed?.abandon();
  }

  /** Throws if the call is refused. */
  #ask(attempt: Attempt): Promise<void> | undefined {
    const verdict = this.verdictOn(attempt);
    switch (verdict.kind) {
      case 'pass':
        return undefined;
      case 'refuse':
        throw new UpstreamError('UPSTREAM_UNAVAILABLE');
      case 'wait':
        return verdict.trial.then(() => (attempt.isGivenUp ? undefined : this.#ask(attempt)));
      case 'probe': {
        // A probe must not queue behind calls that are never answered.
        attempt.isUrgent = true;
        const timer = setTimeout(() => this.#outwait(attempt), probeWaitMs);
        this.#probes.set(attempt, { breaker: verdict.breaker, timer });
        return undefined;
      }
    }
  }

  /**
   * Reports an overdue probe. Operations that wait for a read fail with it in under a second. Those that wait for a write go
   * on waiting, because they must know its result.
   */
  #outwait(attempt: Attempt): void {
    this.#removeProbe(attempt)?.overdue();
    if (!attempt.request.isWrite) attempt.overtake(new UpstreamError('UPSTREAM_UNAVAILABLE'));
  }

  #removeProbe(attempt: Attempt): Breaker | undefined {
    if (this.#probes.size === 0) return undefined;
    const probe = this.#probes.get(attempt);
    clearTimeout(probe?.timer);
    this.#probes.delete(attempt);
    return probe?.breaker;
  }

  /** Asks the upstream's breaker, and then that of the key. */
  verdictOn({ owner, request: { isWrite } }: Attempt): Admission {
    const verdict = this.#upstream.enter(isWrite);
    if (verdict.kind !== 'pass') return verdict;
    return this.#keys.get(owner.caller.sharingKey)?.breaker.enter(isWrite) ?? verdict;
  }

  /** Counts an answer of the upstream with a status below 500. */
  succeeded(key: string): void {
    this.#networkPoints = 0;
    this.#doubt = undefined;
    this.#upstream.close();
    if (this.#keys.size === 0) return;
    this.#keys.get(key)?.breaker.close();
    this.#keys.delete(key);
  }

  /** Counts a failure that says something about the upstream. */
  failed(failure: Failure, key: string, { route }: RestOperation): void {
    if (failure.kind === 'network') {
      this.#networkPoints += failure.tookMs >= slowMs ? slowPoints : 1;
      if (this.#networkPoints >= enough) this.#upstream.trip();
      return;
    }
    const points = failure.kind === 'timeout' ? slowPoints : 1;
    this.#doubt ??= new Doubt();
    if (this.#doubt.add(key, points)) this.#upstream.trip();
    const own = this.#keys.get(key) ?? { breaker: new Breaker({ now: this.#now }), doubt: new Doubt() };
    this.#keys.set(key, own);
    if (own.doubt.add(route, points)) own.breaker.trip();
  }
}

/** The failure of the upstream that an outcome shows, if it shows one. */
function failureIn({ mayBeStale }: Attempt, outcome: Outcome): Failure | undefined {
  switch (outcome.kind) {
    case 'not-sent':
      return undefined;
    case 'given-up':
      return outcome.timeouts > 0 ? { kind: 'timeout' } : undefined;
    case 'failed': {
      const { fault, tookMs } = outcome;
      const isNetwork = fault === 'network' || (fault === 'stale-socket' && !mayBeStale);
      return isNetwork ? { kind: 'network', tookMs } : undefined;
    }
    case 'answered':
      return outcome.status >= 500 ? { kind: 'server-error' } : undefined;
  }
}
