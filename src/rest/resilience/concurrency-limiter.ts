import { Refusal, UpstreamError } from '../errors.ts';
import { FairQueue, type Queued } from '../fair-queue.ts';

/** A call that waits for a slot. It leaves the queue by itself when it starts or is shed. */
export interface Waiting {
  /** Resolves when the call has its slot, fails when it is shed. */
  readonly started: Promise<void>;
  /** Gives the place in the queue up; `started` fails. */
  readonly leave: () => void;
}

/** How long something can wait; it may grow while it waits. */
export interface Deadline {
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly endsAt: number;
}

/** Settings of the limiter. */
export interface ConcurrencyLimiterOptions {
  /** Most calls in flight. */
  readonly most: number;
  /** The clock that deadlines are on. */
  readonly now: () => number;
}

/** So many calls may wait for each that may be in flight. */
const queueFactor = 8;

/** How often the queue is searched for calls whose time has run out, in milliseconds. */
const sweepMs = 50;

/** A call that has less time left than this is not worth starting, in milliseconds. */
const leastMs = 60;

interface Entry extends Queued {
  readonly deadline: Deadline;
  readonly start: () => void;
  readonly fail: (error: UpstreamError) => void;
}

/**
 * The cap on calls in flight. Callers take turns: one may use every slot while no other waits and half of them
 * otherwise, and has at most half of the queue. The users of a tenant take turns within its own, and one of them has at
 * most half of what the tenant has. What cannot start before its deadline is shed.
 */
export class ConcurrencyLimiter {
  readonly #most: number;
  readonly #half: number;
  readonly #longest: number;
  readonly #now: () => number;
  readonly #queue = new FairQueue<Entry>();
  /** Calls in flight by caller; none without any. */
  readonly #inFlightOf = new Map<string, number>();
  #inFlight = 0;
  #sheds = 0;
  #meanMs = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor({ most, now }: ConcurrencyLimiterOptions) {
    this.#most = most;
    this.#half = Math.ceil(most / 2);
    this.#longest = most * queueFactor;
    this.#now = now;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** How long calls take lately, in milliseconds. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /** Calls that were shed so far. */
  get sheds(): number {
    return this.#sheds;
  }

  /** Takes a slot if one is free and no call waits. */
  take(caller: string): boolean {
    if (this.#inFlight >= this.#most || this.#queue.size > 0) return false;
    this.seize(caller);
    return true;
  }

  /** Takes a slot whether or not one is free: calls without an answer must not keep a probe back. */
  seize(caller: string): void {
    this.#inFlightOf.set(caller, (this.#inFlightOf.get(caller) ?? 0) + 1);
    this.#inFlight += 1;
  }

  /** Waits for a slot. Throws if the call would have to be shed. */
  queue(caller: string, deadline: Deadline, user = ''): Waiting {
    const isFull = this.#queue.isFull(this.#longest, { caller, user });
    if (isFull || this.#now() + this.#expectedMs(caller) > deadline.endsAt - leastMs) throw this.#shed();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Entry = { caller, user, deadline, start: resolve, fail: reject };
    this.#queue.add(entry);
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepMs);
    this.#startWaiting();
    return { started: promise, leave: () => this.#drop(entry, new UpstreamError('OVERLOADED')) };
  }

  /** Gives a slot back after so many milliseconds. */
  release(caller: string, tookMs: number): void {
    const inFlight = (this.#inFlightOf.get(caller) ?? 1) - 1;
    if (inFlight > 0) this.#inFlightOf.set(caller, inFlight);
    else this.#inFlightOf.delete(caller);
    this.#inFlight -= 1;
    this.#meanMs += (tookMs - this.#meanMs) / 16;
    if (this.#queue.size > 0) this.#startWaiting();
  }

  /** Fails everything that waits. */
  flush(error: UpstreamError): void {
    for (const entry of this.#queue.inOrder()) this.#drop(entry, error);
  }

  #startWaiting(): void {
    while (this.#inFlight < this.#most) {
      const entry = this.#queue.next((caller) => this.#mayStart(caller));
      if (entry === undefined) break;
      this.#queue.served(entry);
      this.seize(entry.caller);
      entry.start();
    }
    this.#rest();
  }

  #mayStart(caller: string): boolean {
    return this.#queue.callers === 1 || (this.#inFlightOf.get(caller) ?? 0) < this.#half;
  }

  /** How long one more call of this caller waits until it starts, if calls go on taking as long as they do. */
  #expectedMs(caller: string): number {
    const before = Math.min(this.#queue.size, (this.#queue.sizeOf(caller) + 1) * (this.#queue.callers + 1));
    return Math.floor(before / this.#most) * this.#meanMs;
  }

  #sweep(): void {
    const soon = this.#now() + leastMs;
    for (const entry of this.#queue.inOrder()) if (entry.deadline.endsAt <= soon) this.#drop(entry, this.#shed());
  }

  #shed(): UpstreamError {
    this.#sheds += 1;
    return new Refusal('OVERLOADED', 1);
  }

  #drop(entry: Entry, error: UpstreamError): void {
    if (!this.#queue.delete(entry)) return;
    entry.fail(error);
    // A caller that waited beside this one may be the only one left, and have every slot.
    this.#startWaiting();
  }

  /** Sweeps no more while no call waits. */
  #rest(): void {
    if (this.#queue.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}
