import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller.ts';
import { Refusal, UpstreamError } from '../errors.ts';

/** Most calls in flight with a key of which the upstream has not said yet that it knows it. */
const mostInFlight = 8;

/** Most calls that wait for the proof of one key, and of all keys together. */
const mostWaiting = { key: 1000, process: 10_000 } as const;

/** How long a key that the upstream did not know is refused without asking again, in milliseconds. */
const rejectedMs = 5000;

/** Most keys that are remembered, proven ones and rejected ones apart: invented keys drive out other invented ones only. */
const mostKeys = 10_000;

interface Rejection {
  readonly error: UpstreamError;
  readonly until: number;
}

interface Entry {
  readonly candidate: object;
  readonly start: () => void;
  readonly fail: (error: UpstreamError) => void;
}

/** A key that has calls in flight or waiting, and is not proven. */
interface Trial {
  readonly inFlight: Set<object>;
  readonly waiting: Set<Entry>;
}

/** A call that waits for the proof of its key. `started` rejects if the upstream does not know the key. */
export interface Waiting {
  readonly started: Promise<void>;
  readonly leave: () => void;
}

/**
 * Keeps back the calls of unproven keys, so that an invented key costs the upstream a few calls. A key is on trial until
 * the upstream has answered one of its calls: meanwhile few of them are in flight, and the others wait for that answer.
 * If it says that the key is unknown, all of them fail, and so does what comes within the next seconds. Keys that the
 * gateway holds need no proof. All is known to this process alone.
 */
export class KeyTrials {
  readonly #now: () => number;
  /** Bounded by size, for an LRUCache with a `max` takes up memory for all of its places at once. */
  readonly #proven = new LRUCache<string, true>({ maxSize: mostKeys, sizeCalculation: () => 1 });
  readonly #rejections = new LRUCache<string, Rejection>({ maxSize: mostKeys, sizeCalculation: () => 1 });
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

  /** True if the upstream has not said yet whether it knows the key. */
  isOnTrial(caller: Caller): boolean {
    return !this.isProven(caller) && this.errorOf(caller.sharingKey) === undefined;
  }

  /** What the upstream said of a key that it did not know a moment ago; undefined if it did not say so. */
  errorOf(sharingKey: string): UpstreamError | undefined {
    if (this.#rejections.size === 0) return undefined;
    const rejection = this.#rejections.get(sharingKey);
    if (rejection === undefined) return undefined;
    if (this.#now() < rejection.until) return rejection.error;
    this.#rejections.delete(sharingKey);
    return undefined;
  }

  /** True if a call may go on at once. If its key is on trial, it has one of the places then, until `left`. */
  enter(caller: Caller, candidate: object): boolean {
    const { sharingKey } = caller;
    if (this.errorOf(sharingKey) !== undefined) return false;
    if (this.isProven(caller)) return true;
    const trial = this.#trials.get(sharingKey);
    if (trial === undefined) this.#trials.set(sharingKey, { inFlight: new Set([candidate]), waiting: new Set() });
    else if (trial.inFlight.size < mostInFlight || trial.inFlight.has(candidate)) trial.inFlight.add(candidate);
    else return false;
    return true;
  }

  /** Waits until the call may go on, as `enter` says. Throws if its key is refused, or if too many calls wait. */
  wait({ sharingKey }: Caller, candidate: object): Waiting {
    const refusal = this.errorOf(sharingKey);
    if (refusal !== undefined) throw refusal;
    const trial = this.#trials.get(sharingKey);
    if (trial === undefined) return { started: Promise.resolve(), leave: () => undefined };
    if (trial.waiting.size >= mostWaiting.key || this.#waiting >= mostWaiting.process) {
      this.#sheds += 1;
      throw new Refusal('OVERLOADED', 1);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Entry = { candidate, start: resolve, fail: reject };
    trial.waiting.add(entry);
    this.#waiting += 1;
    return { started: promise, leave: () => this.#drop(sharingKey, entry) };
  }

  /** The upstream has answered a call with the key in a way that it answers only to a key that it knows. */
  prove({ sharingKey, tenant }: Caller): void {
    if (this.#rejections.size > 0) this.#rejections.delete(sharingKey);
    const trial = this.#trials.get(sharingKey);
    if (trial === undefined) return;
    if (tenant === undefined) this.#proven.set(sharingKey, true);
    this.#trials.delete(sharingKey);
    for (const { start } of this.#dequeueAll(trial)) start();
  }

  /** The upstream does not know the key. */
  reject({ sharingKey }: Caller, error: UpstreamError): void {
    this.#rejections.set(sharingKey, { error, until: this.#now() + rejectedMs });
    this.#proven.delete(sharingKey);
    const trial = this.#trials.get(sharingKey);
    if (trial !== undefined) for (const { fail } of this.#dequeueAll(trial)) fail(error);
  }

  /** A call has ended, or is not sent after all. Its place is the next one's. */
  left({ sharingKey }: Caller, candidate: object): void {
    const trial = this.#trials.get(sharingKey);
    if (trial?.inFlight.delete(candidate) !== true) return;
    const [next] = trial.waiting;
    if (next !== undefined) {
      trial.waiting.delete(next);
      this.#waiting -= 1;
      trial.inFlight.add(next.candidate);
      next.start();
    }
    this.#forgetIdle(sharingKey, trial);
  }

  /** Fails everything that waits. */
  flush(error: UpstreamError): void {
    for (const trial of this.#trials.values()) for (const { fail } of this.#dequeueAll(trial)) fail(error);
  }

  #dequeueAll(trial: Trial): readonly Entry[] {
    const entries = [...trial.waiting];
    this.#waiting -= entries.length;
    trial.waiting.clear();
    return entries;
  }

  #drop(sharingKey: string, entry: Entry): void {
    const trial = this.#trials.get(sharingKey);
    if (trial?.waiting.delete(entry) !== true) return;
    this.#waiting -= 1;
    this.#forgetIdle(sharingKey, trial);
    entry.fail(new UpstreamError('OVERLOADED'));
  }

  #forgetIdle(sharingKey: string, trial: Trial): void {
    if (trial.inFlight.size === 0 && trial.waiting.size === 0) this.#trials.delete(sharingKey);
  }
}
