import { isUnauthenticated, noRoomForBodies, type UpstreamError } from '../errors.ts';
import { type EndListener, isOverdue, type OperationDeadline } from '../operation-deadline.ts';
import { SharedWork } from '../single-flight.ts';
import type { KeptBody } from '../transport/body-room.ts';

/** The side of a call that operations see: they wait for it, and leave when they end. */
export abstract class AwaitedCall<T> extends SharedWork<Waiter<T>> {
  #endsAt = Number.NEGATIVE_INFINITY;

  /** When the last operation that waits for it ends, on the clock of `performance.now()`. Grows as others join. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** An operation waits for it. Rejects with an UpstreamError; with that of the deadline if the operation ends first. */
  join(deadline: OperationDeadline): Promise<T> {
    if (deadline.endsAt > this.#endsAt) this.#endsAt = deadline.endsAt;
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(this, deadline, resolve, reject);
      this.add(waiter);
      deadline.onEnd(waiter);
    });
  }

  /** The deadline of an operation that waited for it has passed. */
  abstract overdue(): void;

  /** Whether one of those who wait may keep what the body says. Those that may not leave. */
  protected keep(body: KeptBody, limit: number): boolean {
    for (const { deadline } of [...this.waiters]) deadline.keep(body, limit);
    return this.waiters.length > 0;
  }

  /** Ends the call with a value; `size` is the number of characters that it was read from. */
  protected resolve(value: T, size: number): void {
    for (const waiter of this.end()) waiter.resolve(value, size);
  }

  /** Ends the call with an error. Some are those of all else that an operation reads: they end it. */
  protected reject(error: unknown): void {
    const waiters = this.end();
    for (const waiter of waiters) waiter.reject(error);
    if (endsOperations(error)) for (const { deadline } of waiters) deadline.fail(error);
  }
}

/** The key is unknown, or there is no room for what is read: then an operation gives back what it has. */
function endsOperations(error: unknown): error is UpstreamError {
  return isUnauthenticated(error) || error === noRoomForBodies;
}

/** One operation that waits for a call. */
class Waiter<T> implements EndListener {
  settled = false;
  readonly deadline: OperationDeadline;
  readonly #call: AwaitedCall<T>;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    call: AwaitedCall<T>,
    deadline: OperationDeadline,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#call = call;
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

  /** Its operation ends first. One that stands for several is as many witnesses of a deadline that has passed. */
  ended(error: UpstreamError): void {
    this.reject(error);
    if (isOverdue(error)) for (let left = this.deadline.operations; left > 0; left -= 1) this.#call.overdue();
    this.#call.leave(this);
  }
}
