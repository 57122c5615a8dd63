import type { OperationDeadline } from '../rest/operation-deadline.ts';
import type { TraceContext } from '../rest/rest-run.ts';
import { SharedWork, SingleFlight } from '../rest/single-flight.ts';
import type { OperationResult } from './operation-result.ts';
import type { OperationRun, RequestContext } from './operation-run.ts';

/**
 * The time for which an operation may be joined, in milliseconds. A request that joins later would have too little time
 * until the deadline, which is that of the first request. It can still share the REST reads of the operation.
 */
const joinWindowMs = 100;

type Waiter = Pick<RequestContext, 'onLeave' | 'trace' | 'span'>;

/**
 * Lets equal queries of one caller share one execution: a request joins an operation that has just begun, and gets the
 * same result. A shared operation ends early when its last client has left.
 */
export class SharedOperations {
  readonly #operations = new SingleFlight<SharedOperation>(joinWindowMs);
  #savedCalls = 0;

  get joined(): number {
    return this.#operations.joined;
  }

  /** A lower bound of the REST calls that were saved because requests joined operations. */
  get savedCalls(): number {
    return this.#savedCalls;
  }

  join(name: string, waiter: Waiter): Promise<OperationResult> | undefined {
    return this.#operations.find(name)?.join(waiter);
  }

  /** Lets other requests join an operation that has just begun, and whose result is still to come. */
  add(name: string, run: OperationRun, deadline: OperationDeadline, result: Promise<OperationResult>): void {
    const operation = new SharedOperation(run.request, deadline, result);
    this.#operations.add(name, operation);
    const end = (): void => {
      this.#savedCalls += operation.joined * run.cost.calls.made;
      operation.end();
    };
    result.then(end, end);
  }
}

/** An operation under way that several requests may wait for. */
class SharedOperation extends SharedWork<Waiter> {
  /** Undefined once the operation has ended, so that its result does not stay in memory. */
  #result: Promise<OperationResult> | undefined;
  readonly #deadline: OperationDeadline;
  readonly #trace: TraceContext;
  joined = 0;

  constructor(request: Waiter, deadline: OperationDeadline, result: Promise<OperationResult>) {
    super();
    this.#result = result;
    this.#deadline = deadline;
    this.#trace = request.trace;
    this.add(request);
  }

  join(waiter: Waiter): Promise<OperationResult> | undefined {
    this.add(waiter);
    this.joined += 1;
    waiter.span?.share(this.#trace);
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
