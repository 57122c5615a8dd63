import type { TraceContext } from './call-spans.ts';
import { isUnauthenticated, noRoomForBodies, type UpstreamError } from './errors.ts';
import { type EndListener, isOverdue, type OperationDeadline } from './operation-deadline.ts';
import { SharedWork } from './single-flight.ts';
import type { KeptBody } from './transport/body-room.ts';

/** Work under way. */
export interface Work {
  /** All who waited have left. */
  readonly cancel: () => void;
  /** The deadline of a waiter has passed. */
  readonly overdue: () => void;
  /** What names its span; undefined without tracing. */
  readonly trace?: TraceContext | undefined;
}

/** One read under way and those who wait for it. */
export class SharedRead<T> extends SharedWork<Waiter<T>> {
  /** When the most patient of them gives up, on the clock of `performance.now()`. */
  endsAt = Number.NEGATIVE_INFINITY;
  // Let go at the end, as the waiters are.
  #work: Work | undefined;

  /** What names the span of the call under way; undefined without tracing. */
  get trace(): TraceContext | undefined {
    return this.#work?.trace;
  }

  /** Adds a waiter. Rejects with the deadline's error if that ends first. */
  join(deadline: OperationDeadline): Promise<T> {
    if (deadline.endsAt > this.endsAt) this.endsAt = deadline.endsAt;
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(this, deadline, resolve, reject);
      this.add(waiter);
      deadline.onEnd(waiter);
    });
  }

  /** Starts the work; it resolves or rejects the read, and not before `start` has returned. */
  start(start: () => Work): void {
    this.#work = start();
  }

  /** The waiters keep what they wait for; false if none of them may. Those that may not leave. */
  keep(body: KeptBody, limit: number): boolean {
    for (const { deadline } of [...this.waiters]) deadline.keep(body, limit);
    return this.waiters.length > 0;
  }

  /** The work is done; `size` is the number of characters that the value was read from. */
  resolve(value: T, size: number): void {
    this.#work = undefined;
    for (const waiter of this.end()) waiter.resolve(value, size);
  }

  /**
   * The work has failed. If the upstream does not know the key, so would all else that the waiters read; if there is no
   * room for what they read, they give back what they have.
   */
  reject(error: unknown): void {
    this.#work = undefined;
    const waiters = this.end();
    for (const waiter of waiters) waiter.reject(error);
    if (endsOperations(error)) for (const { deadline } of waiters) deadline.fail(error);
  }

  /** The deadline of so many operations that waited has passed. */
  overdue(operations: number): void {
    for (let left = operations; left > 0; left -= 1) this.#work?.overdue();
  }

  protected override cancel(): void {
    const work = this.#work;
    this.#work = undefined;
    work?.cancel();
  }
}

/** Whether all that an operation reads fails once one read of it has failed so. */
function endsOperations(error: unknown): error is UpstreamError {
  return isUnauthenticated(error) || error === noRoomForBodies;
}

/** One operation that waits for a read. */
class Waiter<T> implements EndListener {
  settled = false;
  readonly deadline: OperationDeadline;
  readonly #read: SharedRead<T>;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    read: SharedRead<T>,
    deadline: OperationDeadline,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#read = read;
    this.deadline = deadline;
    this.#resolve = resolve;
    this.#reject = reject;
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
    if (isOverdue(error)) this.#read.overdue(this.deadline.operations);
    this.#read.leave(this);
  }
}
