import { UpstreamError } from '../errors.ts';
import { type WaitingCall, WaitingCalls } from './waiting-calls.ts';

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

interface Entry extends WaitingCall {
  readonly deadline: Deadline;
  readonly start: () => void;
  readonly fail: (error: UpstreamError) => void;
}

/** What one caller has in flight and in the queue. Gone when it has neither. */
interface Share {
  readonly caller: string;
  inFlight: number;
  readonly waiting: WaitingCalls<Entry>;
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
  readonly #shares = new Map<string, Share>();
  /** Callers that wait, in the order in which they are served. */
  readonly #queue = new Set<Share>();
  #inFlight = 0;
  #queued = 0;
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
    return this.#queued;
  }

  /** How long calls take lately, in milliseconds. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /** Calls that were shed so far. */
  get sheds(): number {
    return this.#sheds;
  }

  /** Whether another call of this caller, or of this user of a tenant, would find no place in the queue. */
  isFull(caller: string, user = ''): boolean {
    if (this.#queued < this.#longest / (user === '' ? 2 : 4)) return false;
    const waiting = this.#shares.get(caller)?.waiting;
    if (this.#queued >= this.#longest || (waiting?.size ?? 0) >= this.#longest / 2) return true;
    return user !== '' && (waiting?.sizeOf(user) ?? 0) >= this.#longest / 4;
  }

  /** Takes a slot if one is free and no call waits. */
  take(caller: string): boolean {
    if (this.#inFlight >= this.#most || this.#queued > 0) return false;
    this.seize(caller);
    return true;
  }

  /** Takes a slot whether or not one is free: calls without an answer must not keep a probe back. */
  seize(caller: string): void {
    this.#shareOf(caller).inFlight += 1;
    this.#inFlight += 1;
  }

  /** Waits for a slot. Throws if the call would have to be shed. */
  queue(caller: string, deadline: Deadline, user = ''): Waiting {
    if (this.isFull(caller, user) || this.#now() + this.#expectedMs(caller) > deadline.endsAt - leastMs)
      throw this.#shed();
    const share = this.#shareOf(caller);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Entry = { deadline, user, start: resolve, fail: reject };
    share.waiting.add(entry);
    this.#queue.add(share);
    this.#queued += 1;
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepMs);
    this.#startWaiting();
    return { started: promise, leave: () => this.#drop(share, entry, new UpstreamError('OVERLOADED')) };
  }

  /** Gives a slot back after so many milliseconds. */
  release(caller: string, tookMs: number): void {
    const share = this.#shareOf(caller);
    share.inFlight -= 1;
    this.#inFlight -= 1;
    this.#meanMs += (tookMs - this.#meanMs) / 16;
    if (this.#queued > 0) this.#startWaiting();
    this.#forgetIdle(share);
  }

  /** Fails everything that waits. */
  flush(error: UpstreamError): void {
    for (const share of [...this.#queue]) for (const entry of share.waiting.all()) this.#drop(share, entry, error);
  }

  #startWaiting(): void {
    while (this.#inFlight < this.#most) {
      const share = this.#next();
      const entry = share?.waiting.take();
      if (share === undefined || entry === undefined) return;
      // Behind the others.
      this.#queue.delete(share);
      this.#queue.add(share);
      this.#left(share);
      share.inFlight += 1;
      this.#inFlight += 1;
      entry.start();
    }
  }

  #next(): Share | undefined {
    for (const share of this.#queue) if (this.#queue.size === 1 || share.inFlight < this.#half) return share;
    return undefined;
  }

  /** How long one more call of this caller waits until it starts, if calls go on taking as long as they do. */
  #expectedMs(caller: string): number {
    const own = this.#shares.get(caller)?.waiting.size ?? 0;
    const before = Math.min(this.#queued, (own + 1) * (this.#queue.size + 1));
    return Math.floor(before / this.#most) * this.#meanMs;
  }

  #sweep(): void {
    const soon = this.#now() + leastMs;
    for (const share of [...this.#queue]) {
      for (const entry of share.waiting.all()) {
        if (entry.deadline.endsAt <= soon) this.#drop(share, entry, this.#shed());
      }
    }
  }

  #shed(): UpstreamError {
    this.#sheds += 1;
    return new UpstreamError('OVERLOADED', { retryAfter: 1 });
  }

  #drop(share: Share, entry: Entry, error: UpstreamError): void {
    if (!share.waiting.has(entry)) return;
    this.#remove(share, entry);
    this.#forgetIdle(share);
    entry.fail(error);
    // A caller that waited beside this one may be the only one left, and have every slot.
    this.#startWaiting();
  }

  #remove(share: Share, entry: Entry): void {
    share.waiting.delete(entry);
    this.#left(share);
  }

  /** One call of a caller waits no more. */
  #left(share: Share): void {
    this.#queued -= 1;
    if (share.waiting.size === 0) this.#queue.delete(share);
    if (this.#queued > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #shareOf(caller: string): Share {
    const known = this.#shares.get(caller);
    if (known !== undefined) return known;
    const share: Share = { caller, inFlight: 0, waiting: new WaitingCalls() };
    this.#shares.set(caller, share);
    return share;
  }

  #forgetIdle(share: Share): void {
    if (share.inFlight === 0 && share.waiting.size === 0) this.#shares.delete(share.caller);
  }
}
