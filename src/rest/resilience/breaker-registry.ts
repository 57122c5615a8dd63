import { LRUCache } from 'lru-cache';
import type { RestOperation } from '../operation-ids.ts';
import { Breaker, type BreakerState, type Verdict } from './breaker.ts';

/** Why a call failed, as far as it says something about the upstream. */
export type Failure =
  // Refused, reset, unknown host: no caller's query causes that.
  | { readonly kind: 'network'; readonly tookMs: number }
  // Status 5xx: one caller's query may cause that.
  | { readonly kind: 'server-error' }
  // An operation's deadline passed while the call was in flight: one caller's query may cause that.
  | { readonly kind: 'timeout' };

/** Points without an answer in between that trip a breaker: many, for what fails fast harms little. */
const enough = 50;

/** A failure that takes its time costs its caller more, and trips sooner. */
const slowPoints = 10;
const slowMs = 1000;

/** Most keys in trouble that are remembered. */
const mostKeys = 10_000;

/** Settings of the breakers. */
export interface BreakerRegistryOptions {
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** The upstream's breaker has found that nothing answers, at first or again. */
  readonly onOpen: () => void;
  /** Something answers the upstream's breaker again. */
  readonly onClose?: () => void;
}

/**
 * Failures without an answer in between, by what may have caused them. One cause has at most half of the points that trip a
 * breaker: one caller's long trouble and another's one failure are two things, whichever came first.
 */
class Doubt {
  readonly #points = new Map<string, number>();
  #sum = 0;

  /** Adds a failure. True if they suffice to trip a breaker. */
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

/** A key whose calls have failed since its last answer. */
interface KeyInTrouble {
  readonly breaker: Breaker;
  readonly doubt: Doubt;
}

/**
 * The breaker of the upstream and, behind it, one for each key in trouble. Lost connections trip the upstream's. Server
 * errors and timeouts do if they are those of several keys, and trip the breaker of their key if they are seen on several
 * routes: one slow or broken query stops neither the calls of other callers nor its caller's other calls. Any answer below
 * 500 is a sign of life.
 */
export class BreakerRegistry {
  readonly #now: () => number;
  readonly #upstream: Breaker;
  readonly #keys = new LRUCache<string, KeyInTrouble>({ maxSize: mostKeys, sizeCalculation: () => 1 });
  #networkPoints = 0;
  #doubt: Doubt | undefined;

  constructor({ now, onOpen, onClose }: BreakerRegistryOptions) {
    this.#now = now;
    // The keys' trouble came from the same cause.
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

  /** True if no call with this key is refused. */
  isCalm(key: string): boolean {
    return this.#upstream.state === 'closed' && (this.#keys.size === 0 || !this.#keys.has(key));
  }

  /** What a call may do now. */
  enter(key: string, isWrite: boolean): Verdict {
    const verdict = this.#upstream.enter(isWrite);
    if (verdict.kind !== 'pass') return verdict;
    return this.#keys.get(key)?.breaker.enter(isWrite) ?? verdict;
  }

  /** The upstream answered, whatever it said, with a status below 500. */
  succeeded(key: string): void {
    this.#networkPoints = 0;
    this.#doubt = undefined;
    this.#upstream.close();
    if (this.#keys.size === 0) return;
    this.#keys.get(key)?.breaker.close();
    this.#keys.delete(key);
  }

  /** A call failed in a way that says something about the upstream. */
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
