import type { CallSpans, TraceContext } from '../rest/call-spans.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import type { OperationDeadline } from '../rest/operation-deadline.ts';
import { SharedWork, SingleFlight } from '../rest/single-flight.ts';
import type { OperationResult } from './result.ts';

/** A request that waits for an operation. */
export interface Waiter {
  /** Calls back when the client leaves before it is answered. */
  onLeave(listener: () => void): void;
  /** The trace context of its operation. */
  readonly trace?: TraceContext;
  /** Records that another request's operation answers it; undefined without tracing. */
  readonly spans?: Pick<CallSpans, 'share'> | undefined;
}

/** Settings of shared operations. */
export interface SharingOptions {
  /**
   * The time after its start in which an operation can be joined; by default 100 ms. Its deadline is that of the first
   * request, and a request that joins late would have had a later one. Later requests can still share its reads.
   */
  readonly joinWindowMs?: number | undefined;
}

/** An operation that is under way. */
interface Begun {
  readonly result: Promise<OperationResult>;
  readonly deadline: OperationDeadline;
  /** The request for which it was begun. */
  readonly request: Waiter;
  /** Its REST calls. */
  readonly calls: Pick<OperationCalls, 'made'>;
}

/**
 * Executes equal queries of one caller once while they are under way: each request gets the same result. A shared
 * operation ends early when its last client has left. Its deadline is that of the first request.
 */
export class SharedOperations {
  readonly #operations: SingleFlight<SharedOperation>;
  #savedCalls = 0;

  constructor({ joinWindowMs = 100 }: SharingOptions) {
    this.#operations = new SingleFlight(joinWindowMs, () => performance.now());
  }

  /** The number of requests that have joined an operation. */
  get joined(): number {
    return this.#operations.joined;
  }

  /** The least number of REST calls that joining an operation has saved. */
  get savedCalls(): number {
    return this.#savedCalls;
  }

  /** Joins the operation of a caller with this name, if one is under way. */
  join(caller: string, name: string, waiter: Waiter): Promise<OperationResult> | undefined {
    return this.#operations.find(caller, name)?.join(waiter);
  }

  /** Lets other requests join a caller's operation that has just begun. */
  share(caller: string, name: string, begun: Begun): void {
    const operation = new SharedOperation(begun);
    this.#operations.add(caller, name, operation);
    const end = (): void => {
      this.#savedCalls += operation.joined * begun.calls.made;
      operation.end();
    };
    begun.result.then(end, end);
  }

  /**
   * Prevents requests from joining this caller's operations that have already begun, so that a caller reads its own
   * writes.
   */
  invalidate(caller: string): void {
    this.#operations.invalidate(caller);
  }
}

/** An operation under way that several requests may wait for. */
class SharedOperation extends SharedWork<Waiter> {
  // Released at the end, as the waiters are.
  #result: Promise<OperationResult> | undefined;
  readonly #deadline: OperationDeadline;
  readonly #trace: TraceContext | undefined;
  /** The number of requests that have joined it. */
  joined = 0;

  constructor({ result, deadline, request }: Begun) {
    super();
    this.#result = result;
    this.#deadline = deadline;
    this.#trace = request.trace;
    this.add(request);
  }

  /** Adds a waiter and returns the result; undefined once the operation has ended. */
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
