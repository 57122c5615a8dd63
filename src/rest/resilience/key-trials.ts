import { RecentMap } from '../../recent-map.ts';
import { type Caller, isKeyHeld } from '../caller.ts';
import { isUnauthenticated, RefusedCall, type UpstreamError } from '../errors.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';

/** The maximum number of calls in flight with an unproven key. */
const mostInFlight = 8;

/** The maximum number of calls that wait for the proof of one key, and of all keys of the process. */
const mostWaiting = { key: 1000, process: 10_000 } as const;

/** The time for which the gateway itself refuses a key that the upstream has rejected, in milliseconds. */
const rejectedMs = 5000;

/** The maximum number of proven keys, and of rejected keys. They are kept apart: invented keys evict no proven keys. */
const mostKeys = 10_000;

/** The attempts with an unproven key. */
interface Trial {
  readonly inFlight: Set<Attempt>;
  readonly waiting: Map<Attempt, PromiseWithResolvers<void>>;
}

/**
 * Holds back the calls of unproven keys, so that an invented key costs the upstream only a few calls. A key is on trial
 * until an answer shows if the upstream knows it. Until then a few of its calls are in flight, and the others wait. If
 * it is unknown, all of them fail, as do further calls in the next seconds. Keys that the gateway holds need no proof.
 * Each process proves keys for itself.
 */
export class KeyTrials implements Gate {
  readonly #proven = new RecentMap<string, true>({ entries: mostKeys });
  readonly #rejections = new RecentMap<string, UpstreamError>({ entries: mostKeys, forMs: rejectedMs });
  readonly #trials = new Map<string, Trial>();
  /** The number of calls that wait for the proof of their keys. */
  waiting = 0;
  /** The number of calls that were refused because too many waited already. */
  sheds = 0;

  /** The number of keys that have calls in flight or waiting, and are not proven. */
  get unproven(): number {
    return this.#trials.size;
  }

  /** True if the upstream has shown that it knows the key, or if the gateway holds it. */
  isProven(caller: Caller): boolean {
    return isKeyHeld(caller) || this.#proven.get(caller.sharingKey) === true;
  }

  /** The upstream's error for a key that it recently did not know; undefined if there was none. */
  errorOf(sharingKey: string): UpstreamError | undefined {
    return this.#rejections.size === 0 ? undefined : this.#rejections.get(sharingKey);
  }

  enter(attempt: Attempt): Promise<void> | undefined {
    const { caller } = attempt.run;
    const refusal = this.errorOf(caller.sharingKey);
    if (refusal !== undefined) throw refusal;
    if (this.isProven(caller)) return undefined;
    const trial = this.#trials.get(caller.sharingKey) ?? { inFlight: new Set(), waiting: new Map() };
    this.#trials.set(caller.sharingKey, trial);
    if (trial.inFlight.size >= mostInFlight) return this.#wait(attempt, trial);
    begin(attempt, trial);
    return undefined;
  }

  /** Learns from the answer if the key is known. The next waiting attempt takes the place of this one. */
  leave(attempt: Attempt, outcome: Outcome): void {
    if (outcome.kind === 'answered') {
      if (!isUnauthenticated(outcome.error)) {
        if (outcome.provesKey) this.#prove(attempt.run.caller);
      } else if (!attempt.run.calls.hasSucceeded) this.#reject(attempt.run.caller, outcome.error);
    }
    const { sharingKey } = attempt.run.caller;
    const trial = this.#trials.get(sharingKey);
    if (trial === undefined) return;
    if (trial.waiting.delete(attempt)) this.waiting -= 1;
    else if (trial.inFlight.delete(attempt)) {
      attempt.isTrial = false;
      this.#startNext(trial);
    }
    if (trial.inFlight.size === 0 && trial.waiting.size === 0) this.#trials.delete(sharingKey);
  }

  /** Fails everything that waits. */
  flush(error: UpstreamError): void {
    for (const trial of this.#trials.values()) for (const { reject } of this.#dequeueAll(trial)) reject(error);
  }

  #wait(attempt: Attempt, { waiting }: Trial): Promise<void> {
    if (waiting.size >= mostWaiting.key || this.waiting >= mostWaiting.process) {
      this.sheds += 1;
      throw new RefusedCall('OVERLOADED', 1);
    }
    this.waiting += 1;
    const turn = Promise.withResolvers<void>();
    waiting.set(attempt, turn);
    return turn.promise;
  }

  #startNext(trial: Trial): void {
    for (const [attempt, { resolve }] of trial.waiting) {
      trial.waiting.delete(attempt);
      this.waiting -= 1;
      begin(attempt, trial);
      return resolve();
    }
  }

  #prove(caller: Caller): void {
    const { sharingKey } = caller;
    if (this.#rejections.size > 0) this.#rejections.delete(sharingKey);
    const trial = this.#trials.get(sharingKey);
    if (trial === undefined) return;
    if (!isKeyHeld(caller)) this.#proven.set(sharingKey, true);
    this.#trials.delete(sharingKey);
    for (const { resolve } of this.#decide(trial)) resolve();
  }

  #reject({ sharingKey }: Caller, error: UpstreamError): void {
    this.#rejections.set(sharingKey, error);
    this.#proven.delete(sharingKey);
    const trial = this.#trials.get(sharingKey);
    if (trial !== undefined) for (const { reject } of this.#decide(trial)) reject(error);
  }

  /** Ends a trial. The attempts in flight can prove nothing more. */
  #decide(trial: Trial): readonly PromiseWithResolvers<void>[] {
    for (const attempt of trial.inFlight) attempt.isTrial = false;
    return this.#dequeueAll(trial);
  }

  #dequeueAll(trial: Trial): readonly PromiseWithResolvers<void>[] {
    const turns = [...trial.waiting.values()];
    this.waiting -= turns.length;
    trial.waiting.clear();
    return turns;
  }
}

function begin(attempt: Attempt, { inFlight }: Trial): void {
  attempt.isTrial = true;
  inFlight.add(attempt);
}
