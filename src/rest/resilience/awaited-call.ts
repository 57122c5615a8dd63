import type { EventLoopYield } from '../../event-loop-yield.ts';
import type { Claim } from '../../memory.ts';
import { isUnauthenticated, noRoomForBodies, Refusal, UpstreamError } from '../errors.ts';
import type { OperationCalls } from '../operation-calls.ts';
import { type EndListener, isOverdue, type OperationDeadline } from '../operation-deadline.ts';
import { SharedWork } from '../single-flight.ts';

/** An operation that waits for a call. */
export interface AwaitingOperation {
  readonly deadline: OperationDeadline;
  readonly calls: OperationCalls;
  /** True if no client waits for its calls. */
  readonly isBackground?: boolean | undefined;
}

/** The side of a call that operations see: they join it as waiters, and leave when they end. */
export abstract class AwaitedCall extends SharedWork<Waiter> {
  /** The latest deadline of its waiters, on the clock of `performance.now()`. It grows as others join. */
  endsAt = Number.NEGATIVE_INFINITY;
  /** True if no client has ever waited for it. It then leaves some of the calls that its key may make to clients. */
  isBackground = true;

  /**
   * Adds an operation as a waiter; `isBackground` is true if no client waits for the operation. Rejects with an
   * UpstreamError, or with the deadline's error if the operation ends first.
   */
  join({ deadline, calls, isBackground = false }: AwaitingOperation): Promise<unknown> {
    this.isBackground &&= isBackground;
    if (deadline.endsAt > this.endsAt) this.endsAt = deadline.endsAt;
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(this, deadline, calls, resolve, reject);
      this.add(waiter);
      deadline.onEnd(waiter);
    });
  }

  /** Called when the deadline of a waiter has passed. */
  abstract overdue(): void;

  /** True if the response has arrived, so that only the gateway's own work is left. */
  abstract get hasArrived(): boolean;

  /**
   * Keeps a body for the waiters. A waiter leaves if its operation would exceed `limit`. Returns true if any waiter
   * is left.
   */
  protected keep(body: Claim, limit: number): boolean {
    for (const { deadline } of [...this.waiters]) deadline.keep(body, limit);
    return this.waiters.length > 0;
  }

  /** True if the answer causes much work for any waiter. */
  protected get isLarge(): boolean {
    return this.waiters.some(({ deadline }) => deadline.isLarge);
  }

  /**
   * Ends the call with a value; `size` is the number of characters that it was read from. If the answer causes much work for
   * several waiters, all but the first of them are told in later turns of the event loop.
   */
  protected resolve(value: unknown, size: number, eventLoop: EventLoopYield): void {
    let isFirst = true;
    for (const waiter of this.end()) {
      const { isLarge } = waiter.deadline;
      if (!isLarge || isFirst) waiter.resolve(value, size);
      else eventLoop.doLater(() => waiter.resolve(value, size), waiter.deadline.endsAt);
      if (isLarge) isFirst = false;
    }
  }

  /**
   * Ends the call with an error. Some errors also end the waiting operations, because all of their other reads would
   * fail alike.
   */
  protected reject(error: unknown): void {
    const waiters = this.end();
    for (const waiter of waiters) waiter.reject(error);
    for (const { deadline, calls } of waiters) if (endsOperation(error, calls)) deadline.fail(error);
  }
}

/**
 * True if the error ends the whole operation, which then gives back what it holds. Such an error says that the key is
 * unknown, that there is no room for bodies, or that the gateway refuses a call of an operation that has sent none.
 */
function endsOperation(error: unknown, calls: OperationCalls): error is UpstreamError {
  return isUnauthenticated(error) || error === noRoomForBodies || (error instanceof Refusal && calls.mayBeRefused);
}

/** The error if the response came in time, but the process was too busy to read it by then. */
const readTooLate = new UpstreamError('OVERLOADED', undefined, 'read too late');

/** One operation that waits for a call. */
class Waiter implements EndListener {
  settled = false;
  readonly deadline: OperationDeadline;
  readonly calls: OperationCalls;
  readonly #call: AwaitedCall;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    call: AwaitedCall,
    deadline: OperationDeadline,
    calls: OperationCalls,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#call = call;
    this.deadline = deadline;
    this.calls = calls;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  resolve(value: unknown, size: number): void {
    this.settled = true;
    this.deadline.received += size;
    this.#resolve(value);
  }

  reject(error: unknown): void {
    this.settled = true;
    this.#reject(error);
  }

  /**
   * Called when the operation ends before the call. An operation that answers several requests counts as several timeouts.
   */
  ended(error: UpstreamError): void {
    const isLate = isOverdue(error);
    this.reject(isLate && this.#call.hasArrived ? readTooLate : error);
    if (isLate) for (let left = this.deadline.operations; left > 0; left -= 1) this.#call.overdue();
    this.#call.leave(this);
  }
}
