import type { CallSpans, TraceContext } from '../rest/call-spans.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import type { OperationResult } from './result.ts';

/** Executes an operation before its deadline; the result comes at once if nothing had to be read. */
export type Start = (deadline: OperationDeadline) => Promise<OperationResult> | OperationResult;

/** A request that waits for an operation. */
export interface Waiter {
  /** Calls back when the client leaves before it is answered. */
  readonly onLeave: (listener: () => void) => void;
  /** What stands for its operation in traces. */
  readonly trace?: TraceContext;
  /** Hears that it is answered by another request's operation; undefined without tracing. */
  readonly spans?: Pick<CallSpans, 'share'>;
}

/**
 * An operation is not joined once it has been under way for so long, in milliseconds: its deadline is that of the first
 * request, and one that comes later has a later one. The reads of both can still be shared.
 */
const joinWindowMs = 100;

/**
 * Equal queries under way under the same caller are executed once, and each of their requests gets the result. The shared
 * operation ends early when its last client has left; its deadline is that of the first.
 */
export class SharedOperations {
  readonly #deadlineMs: number;
  readonly #byCaller = new Map<string, Map<string, SharedOperation>>();
  #joined = 0;
  #savedCalls = 0;

  /** `deadlineMs` is the total deadline of an operation. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** How often an operation was joined so far. */
  get joined(): number {
    return this.#joined;
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
    const joined = this.#byCaller.get(caller)?.get(name)?.join(waiter);
    if (joined !== undefined) {
      this.#joined += 1;
      return joined;
    }
    const deadline = new OperationDeadline(this.#deadlineMs);
    const result = start(deadline);
    if (!(result instanceof Promise)) return result;
    const operation = new SharedOperation(result, deadline, waiter);
    const operations = this.#byCaller.get(caller);
    if (operations === undefined) this.#byCaller.set(caller, new Map([[name, operation]]));
    else operations.set(name, operation);
    const forget = (): void => {
      operation.end();
      this.#savedCalls += operation.joined * calls.made;
      this.#forget(caller, name, operation);
    };
    result.then(forget, forget);
    return result;
  }

  /** Executes an operation that must not be shared. */
  startUnshared({ onLeave }: Waiter, start: Start): Promise<OperationResult> | OperationResult {
    const deadline = new OperationDeadline(this.#deadlineMs);
    const result = start(deadline);
    if (result instanceof Promise) onLeave(() => deadline.end('left'));
    return result;
  }

  /** No operation of this caller that began before now is joined any more: a caller reads its own writes. */
  invalidate(caller: string): void {
    this.#byCaller.delete(caller);
  }

  #forget(caller: string, name: string, operation: SharedOperation): void {
    const operations = this.#byCaller.get(caller);
    if (operations?.get(name) !== operation) return;
    operations.delete(name);
    if (operations.size === 0) this.#byCaller.delete(caller);
  }
}

/** An operation under way, and how many requests wait for it. */
class SharedOperation {
  readonly #startedAt = performance.now();
  readonly #deadline: OperationDeadline;
  readonly #trace: TraceContext | undefined;
  // Let go at the end: a map that has grown keeps entries that were deleted before alive for a while.
  #result: Promise<OperationResult> | undefined;
  #waiters = 0;
  /** How often it was joined. */
  joined = 0;

  constructor(result: Promise<OperationResult>, deadline: OperationDeadline, first: Waiter) {
    this.#result = result;
    this.#deadline = deadline;
    this.#trace = first.trace;
    this.#add(first);
  }

  /** The result, with one more waiter; undefined if it is too late to join. */
  join(waiter: Waiter): Promise<OperationResult> | undefined {
    if (this.#waiters === 0 || performance.now() - this.#startedAt >= joinWindowMs) return undefined;
    this.#add(waiter);
    this.joined += 1;
    if (waiter.spans !== undefined && this.#trace !== undefined) waiter.spans.share(this.#trace);
    return this.#result;
  }

  /** It has its result. */
  end(): void {
    this.#result = undefined;
  }

  #add({ onLeave }: Waiter): void {
    this.#waiters += 1;
    this.#deadline.operations = this.#waiters;
    onLeave(() => {
      this.#waiters -= 1;
      this.#deadline.operations = this.#waiters;
      if (this.#waiters === 0) this.#deadline.end('left');
    });
  }
}
