import type { TraceContext } from './call-spans.ts';
import { isUnauthenticated, noRoomForBodies, type UpstreamError } from './errors.ts';
import { type EndListener, isOverdue, type OperationDeadline } from './operation-deadline.ts';
import type { KeptBody } from './transport/body-room.ts';

/** Work under way. */
export interface Work {
  /** Nobody waits for it any more. */
  readonly cancel: () => void;
  /** The deadline of somebody who waited for it has passed. */
  readonly overdue: () => void;
  /** What names its span, where somebody traces. */
  readonly trace?: TraceContext | undefined;
}

/** Starts the work behind a shared call; it resolves or rejects the call, and not before this has returned. */
export type StartWork<T> = (call: SharedCall<T>) => Work;

/** How long after its start a read may be joined, in milliseconds: an older call may be one that is never answered. */
const joinWindowMs = 1000;

/**
 * Single flight: equal reads in flight under the same caller are one call, across operations. The last waiter to
 * leave cancels it; one that leaves early harms no other. Entries live as long as their call.
 */
export class SingleFlight<T> {
  readonly #byCaller = new Map<string, Map<string, SharedCall<T>>>();
  #joined = 0;

  /** How often a call was joined so far. */
  get joined(): number {
    return this.#joined;
  }

  /** The call that a read of (caller, name) may join. */
  joinable(caller: string, name: string): SharedCall<T> | undefined {
    const call = this.#byCaller.get(caller)?.get(name);
    return call !== undefined && performance.now() - call.startedAt < joinWindowMs ? call : undefined;
  }

  /** Joins a call. Fails with the deadline's error when that ends first. */
  join(call: SharedCall<T>, deadline: OperationDeadline): Promise<T> {
    this.#joined += 1;
    return call.join(deadline);
  }

  /** Starts the call of (caller, name). Fails with the deadline's error when that ends first. */
  start(caller: string, name: string, deadline: OperationDeadline, start: StartWork<T>): Promise<T> {
    const call = new SharedCall<T>(deadline.endsAt, () => this.#forget(caller, name, call));
    const calls = this.#byCaller.get(caller);
    if (calls === undefined) this.#byCaller.set(caller, new Map([[name, call]]));
    else calls.set(name, call);
    const result = call.join(deadline);
    call.start(start);
    return result;
  }

  /** No read joins one that began before now: a caller reads its own writes. Its own waiters stay. */
  invalidate(caller: string): void {
    this.#byCaller.delete(caller);
  }

  #forget(caller: string, name: string, call: SharedCall<T>): void {
    const calls = this.#byCaller.get(caller);
    if (calls?.get(name) !== call) return;
    calls.delete(name);
    if (calls.size === 0) this.#byCaller.delete(caller);
  }
}

/** One read under way and those who wait for it. */
export class SharedCall<T> {
  /** When the most patient of them gives up, on the clock of `performance.now()`. */
  endsAt: number;
  readonly startedAt = performance.now();
  // Both are let go at the end: a map that has grown keeps entries that were deleted before alive for a while.
  #waiters: Waiter<T>[] = [];
  #work: Work | undefined;
  readonly #forget: () => void;

  constructor(endsAt: number, forget: () => void) {
    this.endsAt = endsAt;
    this.#forget = forget;
  }

  /** What names the span of the call under way, where somebody traces. */
  get trace(): TraceContext | undefined {
    return this.#work?.trace;
  }

  /** Adds a waiter. */
  join(deadline: OperationDeadline): Promise<T> {
    if (deadline.endsAt > this.endsAt) this.endsAt = deadline.endsAt;
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(this, deadline, resolve, reject);
      this.#waiters.push(waiter);
      deadline.onEnd(waiter);
    });
  }

  /** Starts the work. */
  start(start: StartWork<T>): void {
    this.#work = start(this);
  }

  /** The waiters keep what they wait for; false where none of them may. Those that may not leave. */
  keep(body: KeptBody, limit: number): boolean {
    for (const { deadline } of [...this.#waiters]) deadline.keep(body, limit);
    return this.#waiters.length > 0;
  }

  /** The work is done; `size` is the number of characters that the value was read from. */
  resolve(value: T, size: number): void {
    for (const waiter of this.#end()) waiter.resolve(value, size);
  }

  /**
   * The work has failed. Where the upstream does not know the key, so would all else that the waiters read; where there
   * is no room for what they read, they give back what they have.
   */
  reject(error: unknown): void {
    const waiters = this.#end();
    for (const waiter of waiters) waiter.reject(error);
    if (endsOperations(error)) for (const { deadline } of waiters) deadline.fail(error);
  }

  /** A waiter's operation has ended. */
  leave(waiter: Waiter<T>, error: UpstreamError): void {
    if (isOverdue(error)) for (let left = waiter.operations; left > 0; left -= 1) this.#work?.overdue();
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    if (this.#waiters.length > 0) return;
    const work = this.#work;
    this.#end();
    work?.cancel();
  }

  #end(): readonly Waiter<T>[] {
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#work = undefined;
    this.#forget();
    return waiters;
  }
}

/** Whether all that an operation reads fails once one read of it has failed so. */
function endsOperations(error: unknown): error is UpstreamError {
  return isUnauthenticated(error) || error === noRoomForBodies;
}

/** One read that waits for a shared call. */
class Waiter<T> implements EndListener {
  settled = false;
  readonly #call: SharedCall<T>;
  readonly deadline: OperationDeadline;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    call: SharedCall<T>,
    deadline: OperationDeadline,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#call = call;
    this.deadline = deadline;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get operations(): number {
    return this.deadline.operations;
  }

  resolve(value: T, size: number): void {
    this.settled = true;
    this.deadline.received += size;
    this.#resolve(value);
  }

  reject(error: unknown): void {
    this.settled = true;
    this.#reject(error);
  }

  ended(error: UpstreamError): void {
    this.reject(error);
    this.#call.leave(this, error);
  }
}
