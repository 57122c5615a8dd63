import { RecentMap } from '../../recent-map.ts';
import type { Caller } from '../caller.ts';
import { isUnauthenticated, Refusal, type UpstreamError } from '../errors.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';

/** The most calls in flight with an unproven key, which the upstream has not yet shown to know. */
const mostInFlight = 8;

/** The most calls that wait for the proof of one key, and of all keys together. */
const mostWaiting = { key: 1000, process: 10_000 } as const;

/** The time for which a key that the upstream did not know is refused without asking again, in milliseconds. */
const rejectedMs = 5000;

/**
 * The most proven keys that are remembered, and the most rejected keys. The lists are separate, so that invented keys
 * only evict invented keys.
 */
const mostKeys = 10_000;

interface Rejection {
  readonly error: UpstreamError;
  readonly until: number;
}

interface Entry {
  readonly start: () => void;
  readonly fail: (error: UpstreamError) => void;
}

/** A key that has attempts in flight or waiting, and is not proven. */
interface Trial {
  readonly inFlight: Set<Attempt>;
  readonly waiting: Map<Attempt, Entry>;
}

/**
 * Holds back the calls of unproven keys, so that an invented key costs the upstream only a few calls. A key is on trial
 * until the upstream has answered one of its calls. Until then a few of its calls are in flight, and the others wait. If the
 * upstream does not know the key, all of them fail, and so do further calls in the next seconds. Keys that the gateway holds
 * need no proof. Each process has its own list.
 */
export class KeyTrials implements Gate {
  readonly #now: () => number;
  readonly #proven = new RecentMap<string, true>({ entries: mostKeys });
  readonly #rejections = new RecentMap<string, Rejection>({ entries: mostKeys });
  readonly #trials = new Map<string, Trial>();
  #waiting = 0;
  #sheds = 0;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Keys that have calls in flight or waiting, and are not proven. */
  get unproven(): number {
    return this.#trials.size;
  }

  /** Calls that wait for the proof of their keys. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Calls that were refused because too many waited. */
  get sheds(): number {
    return this.#sheds;
  }

  /** True if the upstream has shown that it knows the key, or if the gateway holds it. */
  isProven({ sharingKey, tenant }: Caller): boolean {
    return tenant !== undefined || this.#proven.get(sharingKey) === true;
  }

  /** The upstream's error for a key that it recently did not know; undefined if there was none. */
  errorOf(sharingKey: string): UpstreamError | undefined {
    if (this.#rejections.size === 0) return undefined;
    const rejection = this.#rejections.get(sharingKey);
    if (rejection === undefined) return undefined;
    if (this.#now() < rejection.until) return rejection.error;
    this.#rejections.delete(sharingKey);
    return undefined;
  }

  enter(attempt: Attempt): Promise<void> | undefined {
    const { caller } = attempt.owner;
    const refusal = this.errorOf(caller.sharingKey);
    if (refusal !== undefined) throw refusal;
    if (this.isProven(caller)) return undefined;
    const trial = this.#trials.get(caller.sharingKey) ?? { inFlight: new Set(), waiting: new Map() };
    this.#trials.set(caller.sharingKey, trial);
    if (trial.inFlight.size >= mostInFlight) return this.#wait(attempt, trial);
    begin(attempt, trial);
    return undefined;
  }

  /** Learns from the upstream's answer if the key is known. The next waiting attempt takes the place of this one. */
  left(attempt: Attempt, outcome: Outcome): void {
    if (outcome.kind === 'answered') {
      if (!isUnauthenticated(outcome.error)) {
        if (outcome.isKnown) this.#prove(attempt.owner.caller);
      } else if (!attempt.owner.hasSucceeded) this.#reject(attempt.owner.caller, outcome.error);
    }
    const { sharingKey } = attempt.owner.caller;
    const trial = this.#trials.get(sharingKey);
    if (trial === undefined) return;
    if (trial.waiting.delete(attempt)) this.#waiting -= 1;
    else if (trial.inFlight.delete(attempt)) {
      attempt.isProof = false;
      this.#startNext(trial);
    }
    if (trial.inFlight.size === 0 && trial.waiting.size === 0) this.#trials.delete(sharingKey);
  }

  /** Fails everything that waits. */
  flush(error: UpstreamError): void {
    for (const trial of this.#trials.values()) for (const { fail } of this.#dequeueAll(trial)) fail(error);
  }

  #wait(attempt: Attempt, { waiting }: Trial): Promise<void> {
    if (waiting.size >= mostWaiting.key || this.#waiting >= mostWaiting.process) {
      this.#sheds += 1;
      throw new Refusal('OVERLOADED', 1);
    }
    this.#waiting += 1;
    return new Promise((start, fail) => void waiting.set(attempt, { start, fail }));
  }

  #startNext(trial: Trial): void {
    const [next] = trial.waiting;
    if (next === undefined) return;
    const [attempt, { start }] = next;
    trial.waiting.delete(attempt);
    this.#waiting -= 1;
    begin(attempt, trial);
    start();
  }

  #prove({ sharingKey, tenant }: Caller): void {
    if (this.#rejections.size > 0) this.#rejections.delete(sharingKey);
    const trial = this.#trials.get(sharingKey);
    if (trial === undefined) return;
    if (tenant === undefined) this.#proven.set(sharingKey, true);
    this.#trials.delete(sharingKey);
    for (const { start } of this.#decide(trial)) start();
  }

  #reject({ sharingKey }: Caller, error: UpstreamError): void {
    this.#rejections.set(sharingKey, { error, until: this.#now() + rejectedMs });
    this.#proven.delete(sharingKey);
    const trial = this.#trials.get(sharingKey);
    if (trial !== undefined) for (const { fail } of this.#decide(trial)) fail(error);
  }

  /** Ends a trial. The attempts in flight can prove nothing more. */
  #decide(trial: Trial): readonly Entry[] {
    for (const attempt of trial.inFlight) attempt.isProof = false;
    return this.#dequeueAll(trial);
  }

  #dequeueAll(trial: Trial): readonly Entry[] {
    const entries = [...trial.waiting.values()];
    this.#waiting -= entries.length;
    trial.waiting.clear();
    return entries;
  }
}

function begin(attempt: Attempt, { inFlight }: Trial): void {
  attempt.isProof = true;
  inFlight.add(attempt);
}
