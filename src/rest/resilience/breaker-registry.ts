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

/** Points without an answer in between that trip the upstream's breaker: many, for what fails fast harms little. */
const enough = 50;

/** A failure that takes its time costs its caller more, and trips sooner. */
const slowPoints = 10;
const slowMs = 1000;

/** So many timeouts in a row trip the breaker of one key and route. */
const enoughTimeouts = 3;

/** Keys and routes in trouble that are remembered. */
const mostRoutes = 10_000;

interface Route {
  readonly breaker: Breaker;
  timeouts: number;
}

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
 * The breaker of the upstream and, behind it, one for each key and route in trouble. Server errors and
 * timeouts count for the upstream only when seen under two keys or two routes, so that one caller's slow query
 * does not stop the calls of all others. Any answer below 500 is a sign of life.
 */
export class BreakerRegistry {
  readonly #now: () => number;
  readonly #upstream: Breaker;
  readonly #routes = new LRUCache<string, Route>({ max: mostRoutes });
  #networkPoints = 0;
  /** Of the key and route that had trouble first, and of all others. */
  #firstPoints = 0;
  #otherPoints = 0;
  #first: { readonly key: string; readonly route: string } | undefined;

  constructor({ now, onOpen, onClose }: BreakerRegistryOptions) {
    this.#now = now;
    // The routes' trouble came from the same cause.
    this.#upstream = new Breaker({
      now,
      onOpen,
      onClose: () => {
        this.#routes.clear();
        onClose?.();
      },
    });
  }

  get state(): BreakerState {
    return this.#upstream.state;
  }

  /** Whether no call is refused. */
  get calm(): boolean {
    return this.#upstream.state === 'closed' && this.#routes.size === 0;
  }

  /** What a call may do now. */
  enter(key: string, operation: RestOperation, isWrite: boolean): Verdict {
    const verdict = this.#upstream.enter(isWrite);
    if (verdict.kind !== 'pass') return verdict;
    return this.#routes.get(nameOf(key, operation))?.breaker.enter(isWrite) ?? verdict;
  }

  /** The upstream answered, whatever it said, with a status below 500. */
  succeeded(key: string, operation: RestOperation): void {
    if (this.#networkPoints > 0 || this.#first !== undefined) this.#forget();
    this.#upstream.close();
    if (this.#routes.size === 0) return;
    const name = nameOf(key, operation);
    this.#routes.get(name)?.breaker.close();
    this.#routes.delete(name);
  }

  /** A call failed in a way that says something about the upstream. */
  failed(failure: Failure, key: string, operation: RestOperation): void {
    switch (failure.kind) {
      case 'network':
        this.#networkPoints += failure.tookMs >= slowMs ? slowPoints : 1;
        break;
      case 'server-error':
        this.#doubt(1, key, operation);
        break;
      case 'timeout':
        this.#doubt(slowPoints, key, operation);
        this.#countTimeout(key, operation);
        break;
    }
    // Half of what is needed must have been seen elsewhere: one caller's long trouble and another's one failure are two things.
    const doubtful = this.#otherPoints === 0 ? 0 : Math.min(this.#firstPoints, enough / 2) + this.#otherPoints;
    if (this.#networkPoints + doubtful >= enough) this.#upstream.trip();
  }

  #doubt(points: number, key: string, operation: RestOperation): void {
    const { route } = operation;
    this.#first ??= { key, route };
    if (this.#first.key === key && this.#first.route === route) this.#firstPoints += points;
    else this.#otherPoints += points;
  }

  #countTimeout(key: string, operation: RestOperation): void {
    const name = nameOf(key, operation);
    const route = this.#routes.get(name) ?? { breaker: new Breaker({ now: this.#now }), timeouts: 0 };
    route.timeouts += 1;
    this.#routes.set(name, route);
    if (route.timeouts >= enoughTimeouts) route.breaker.trip();
  }

  #forget(): void {
    this.#networkPoints = 0;
    this.#firstPoints = 0;
    this.#otherPoints = 0;
    this.#first = undefined;
  }
}

function nameOf(key: string, { route }: RestOperation): string {
  return `${key} ${route}`;
}
