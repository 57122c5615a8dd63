import { RecentMap } from '../../recent-map.ts';
import { UpstreamError } from '../errors.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';

/**
 * The points that open a breaker. The number is high, because fast failures do little harm. An answer below 500 resets
 * the points to 0.
 */
const pointsToOpen = 50;

/** The points of a timeout, or of a connection lost after `slowMs` or later. Such failures cost their callers more. */
const slowPoints = 10;
/** The time after which a lost connection gets `slowPoints`, in milliseconds. */
const slowMs = 1000;

/** The pause between a failed probe and the next one, in milliseconds. */
const pauseMs = 250;

/** The time for which a probe without an answer holds back the next one, in milliseconds. */
const probeMs = 1000;

/** The time after which a probe without an answer counts as failed, in milliseconds. */
const probeWaitMs = 750;

/**
 * The time for which only a read may be the next probe, in milliseconds. A write without an answer may still have taken
 * effect.
 */
const writesLaterMs = 1000;

/** The maximum number of keys with recent failures. */
const mostKeys = 10_000;

/**
 * Opens after many failures without an answer in between. While it is open, only one call now and then may go on, as a
 * probe. The first probe may follow at once. An answer below 500 closes it.
 */
class Breaker {
  /** The time at which the next call may probe. */
  probeAt = Number.NEGATIVE_INFINITY;
  readonly #pointsOf = new Map<string, number>();
  #points = 0;

  get isOpen(): boolean {
    return this.#points >= pointsToOpen;
  }

  /** Adds the points of a failure. All failures of one cause add at most `most` points together. */
  add(cause: string, points: number, most: number): void {
    if (this.isOpen) return;
    const before = this.#pointsOf.get(cause) ?? 0;
    const after = Math.min(before + points, most);
    this.#pointsOf.set(cause, after);
    this.#points += after - before;
  }

  close(): void {
    if (this.#points === 0) return;
    this.#pointsOf.clear();
    this.#points = 0;
    this.probeAt = Number.NEGATIVE_INFINITY;
  }
}

/** Callbacks that tell of the upstream's breaker. */
interface BreakersOptions {
  readonly onOpen?: () => void;
  readonly onClose?: () => void;
  /** Called when a probe fails, or has no answer for `probeWaitMs`. */
  readonly onFailedProbe?: () => void;
}

interface Probe {
  readonly breaker: Breaker;
  readonly timer: NodeJS.Timeout;
}

/**
 * The breaker of the upstream and, behind it, a breaker for each key with recent failures. Lost connections open the
 * upstream's breaker, because no caller causes them. Server errors and timeouts open it if they come from several keys.
 * If they come from several routes of one key, they open the key's breaker. So one slow or broken query stops no other
 * calls. Any answer below 500 is a sign of life.
 */
export class Breakers implements Gate {
  readonly #options: BreakersOptions;
  readonly #upstream = new Breaker();
  readonly #keys = new RecentMap<string, Breaker>({ entries: mostKeys });
  readonly #probes = new Map<Attempt, Probe>();

  constructor(options: BreakersOptions = {}) {
    this.#options = options;
  }

  /** True while the upstream's breaker is open. */
  get isOpen(): boolean {
    return this.#upstream.isOpen;
  }

  /** Throws if a breaker refuses the attempt. Lets a probe pass. */
  enter(attempt: Attempt): undefined {
    if (!this.isOpen && this.#keys.size === 0) return;
    const breaker = this.isOpen ? this.#upstream : this.#keys.get(attempt.run.caller.sharingKey);
    if (breaker?.isOpen !== true) return;
    const now = performance.now();
    if (now < breaker.probeAt + (attempt.request.isWrite ? writesLaterMs : 0))
      throw new UpstreamError('UPSTREAM_UNAVAILABLE');
    breaker.probeAt = now + probeMs;
    // A probe must not queue behind calls that are never answered.
    attempt.isUrgent = true;
    this.#probes.set(attempt, {
      breaker,
      timer: setTimeout(() => this.#onUnansweredProbe(attempt, breaker), probeWaitMs),
    });
  }

  leave(attempt: Attempt, outcome: Outcome): void {
    const probed = this.#removeProbe(attempt);
    const points = pointsOf(attempt, outcome);
    if (points === 0) return this.#close(attempt.run.caller.sharingKey);
    if (points !== undefined) this.#add(attempt, outcome, points);
    if (probed === undefined) return;
    // A probe that was given up without a result leaves its place to the next call.
    probed.probeAt = points === undefined ? Number.NEGATIVE_INFINITY : performance.now() + pauseMs;
    if (points !== undefined) this.#reportFailedProbe(probed);
  }

  /**
   * Reports a probe that got no answer in time. A read fails at once, long before its deadline. A write goes on,
   * because its operations must know its result.
   */
  #onUnansweredProbe(attempt: Attempt, breaker: Breaker): void {
    this.#removeProbe(attempt);
    this.#reportFailedProbe(breaker);
    if (!attempt.request.isWrite) attempt.failEarly(new UpstreamError('UPSTREAM_UNAVAILABLE'));
  }

  #reportFailedProbe(probed: Breaker): void {
    if (probed === this.#upstream && this.isOpen) this.#options.onFailedProbe?.();
  }

  #removeProbe(attempt: Attempt): Breaker | undefined {
    if (this.#probes.size === 0) return undefined;
    const probe = this.#probes.get(attempt);
    clearTimeout(probe?.timer);
    this.#probes.delete(attempt);
    return probe?.breaker;
  }

  #add({ run, request }: Attempt, { kind }: Outcome, points: number): void {
    const { sharingKey: key } = run.caller;
    const wasOpen = this.isOpen;
    if (kind === 'failed') this.#upstream.add('connections', points, pointsToOpen);
    else {
      // One cause has at most half of the points, so at least two causes have to fail.
      this.#upstream.add(key, points, pointsToOpen / 2);
      const own = this.#keys.get(key) ?? new Breaker();
      this.#keys.set(key, own);
      own.add(request.endpoint.route, points, pointsToOpen / 2);
    }
    if (this.isOpen && !wasOpen) this.#options.onOpen?.();
  }

  /** Closes the breakers of the upstream, which has answered, and of a key. */
  #close(key: string): void {
    const wasOpen = this.isOpen;
    this.#upstream.close();
    if (wasOpen) {
      // The upstream's failure was the cause of the keys' failures, too.
      this.#keys.clear();
      this.#options.onClose?.();
    } else if (this.#keys.size > 0) this.#keys.delete(key);
  }
}

/** The points of an outcome: 0 if it is a sign of life, undefined if it says nothing about the upstream. */
function pointsOf({ mayBeStale }: Attempt, outcome: Outcome): number | undefined {
  switch (outcome.kind) {
    case 'not-sent':
      return undefined;
    case 'given-up':
      return outcome.timeouts > 0 ? outcome.timeouts * slowPoints : undefined;
    case 'answered':
      return outcome.status >= 500 ? 1 : 0;
    case 'failed': {
      const { fault, tookMs } = outcome;
      if (fault === 'invalid') return 0;
      const isLost = fault === 'network' || (fault === 'stale-socket' && !mayBeStale);
      if (!isLost) return undefined;
      return tookMs >= slowMs ? slowPoints : 1;
    }
  }
}
