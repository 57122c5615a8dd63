import type { CallSpans, TraceContext } from '../rest/call-spans.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import { SharedWork, SingleFlight } from '../rest/single-flight.ts';
import type { OperationResult } from './result.ts';

/** Executes an operation before its deadline; the result comes at once if nothing had to be read. */
export type Start = (deadline: OperationDeadline) => Promise<OperationResult> | OperationResult;

/** A request that waits for an operation. */
export interface Waiter {
  /** Calls back when the client leaves before it is answered. */
  onLeave(listener: () => void): void;
  /** What stands for its operation in traces. */
  readonly trace?: TraceContext;
  /** Notes that it is answered by another request's operation; undefined without tracing. */
  readonly spans?: Pick<CallSpans, 'share'> | undefined;
}

/** How operations are shared. Times in milliseconds. */
export interface SharingOptions {
  /** The total deadline of an operation. */
  readonly operationDeadlineMs: number;
  /**
   * An operation is not joined once it has been under way for so long, by default 100: its deadline is that of the first
   * request, and one that comes later has a later one. The reads of both can still be shared.
   */
  readonly joinWindowMs?: number | undefined;
}

/**
 * Equal queries under way under the same caller are executed once, and each of their requests gets the result. The shared
 * operation ends early when its last client has left; its deadline is that of the first.
 */
export class SharedOperations {
  readonly #deadlineMs: number;
  readonly #operations: SingleFlight<SharedOperation>;
  #savedCalls = 0;

  constructor({ operationDeadlineMs, joinWindowMs = 100 }: SharingOptions) {
    this.#deadlineMs = operationDeadlineMs;
    this.#operations = new SingleFlight({ joinWindowMs, now: () => performance.now() });
  }

  /** How often an operation was joined so far. */
  get joined(): number {
    return this.#operations.joined;
  }

  /** REST calls that the requests that joined an operation would have made at least, so far. */
  get savedCalls(): number {
    return this.#savedCalls;
  }

  /** Joins the operation of (caller, name), or starts it; `calls` are those of the request that starts it. */
  joinOrStart(
    caller: string,
    name: string,
    waiter: Waiter,
    start: Start,
    calls: Pick<OperationCalls, 'made'>,
  ): Promise<OperationResult> | OperationResult {
    const joined = this.#operations.find(caller, name)?.join(waiter);
    if (joined !== undefined) return joined;
    const deadline = new OperationDeadline(this.#deadlineMs);
    const result = start(deadline);
    if (!(result instanceof Promise)) return result;
    const operation = new SharedOperation(result, deadline, waiter);
    this.#operations.add(caller, name, operation);
    const end = (): void => {
      this.#savedCalls += operation.joined * calls.made;
      operation.end();
    };
    result.then(end, end);
    return result;
  }

  /** Executes an operation that must not be shared. */
  startUnshared(waiter: Waiter, start: Start): Promise<OperationResult> | OperationResult {
    const deadline = new OperationDeadline(this.#deadlineMs);
    const result = start(deadline);
    if (result instanceof Promise) waiter.onLeave(() => deadline.end('left'));
    return result;
  }

  /** No operation of this caller that began before now is joined any more: a caller reads its own writes. */
  invalidate(caller: string): void {
    this.#operations.invalidate(caller);
  }
}

/** An operation under way that several requests may wait for. */
class SharedOperation extends SharedWork<Waiter> {
  // Let go at the end, as the waiters are.
  #result: Promise<OperationResult> | undefined;
  readonly #deadline: OperationDeadline;
  readonly #trace: TraceContext | undefined;
  /** How often it was joined. */
  joined = 0;

  constructor(result: Promise<OperationResult>, deadline: OperationDeadline, first: Waiter) {
    super();
    this.#result = result;
    this.#deadline = deadline;
    this.#trace = first.trace;
    this.add(first);
  }

  /** The result, with one more waiter; undefined once it has ended. */
  join(waiter: Waiter): Promise<OperationResult> | undefined {
    this.add(waiter);
    this.joined += 1;
    if (this.#trace !== undefined) waiter.spans?.share(this.#trace);
    return this.#result;
  }

  override add(waiter: Waiter): void {
    super.add(waiter);
    this.#deadline.operations = this.waiters.length;
    waiter.onLeave(() => {
      this.leave(waiter);
      this.#deadline.operations = this.waiters.length;
    });
  }

  override end(): readonly Waiter[] {
    this.#result = undefined;
    return super.end();
  }

  protected override cancel(): void {
    this.#deadline.end('left');
  }
}
