import type { BudgetedCall } from '../budget/call-budget.ts';
import type { RestOperation } from '../rest-operations.ts';
import type { RestRun } from '../rest-run.ts';
import type { DecodedResponse } from '../transport/decode-response.ts';
import type { Fault } from '../transport/transport.ts';
import type { WaitingCall } from './concurrency-limiter.ts';

/** The request of a call. */
export interface CallRequest {
  readonly operation: RestOperation;
  /** Path and query, as in the documentation of the API: without the path of `UPSTREAM_URL`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /**
   * True if it has an effect. It is then sent at most once, and its answer is read even if there is no memory for it.
   */
  readonly isWrite: boolean;
  /** The value that a response holds. Throws an UpstreamError if it holds none. */
  readonly decode: (response: DecodedResponse) => unknown;
  /**
   * Called with the result of the call. If it returns a promise, the waiters get the result only after that promise has
   * resolved. The promise never rejects.
   */
  readonly settle?: ((result: CallResult) => Promise<void> | undefined) | undefined;
}

/** The result of a call: its response and the value in it, or its error. */
export type CallResult = { readonly value: unknown; readonly response: DecodedResponse } | { readonly error: unknown };

/**
 * One attempt of a REST call, as gates see it. A call that is retried becomes a new attempt once the previous one has
 * left the gates. Gates keep most of their state about attempts here, and not in sets or maps of their own. When such a
 * collection grows, V8 keeps its old tables, and these would keep ended attempts alive.
 */
export interface Attempt {
  /** The operation that makes the call. Other operations may join it. */
  readonly run: RestRun;
  readonly request: Pick<CallRequest, 'operation' | 'isWrite'>;
  /**
   * The latest deadline of the operations that wait for it, in milliseconds of `performance.now()`. It becomes
   * later when an operation with a later deadline joins.
   */
  readonly endsAt: number;
  /** True if no client waits for it. Some of the calls that its key may make are then left for clients. */
  readonly isBackground: boolean;
  /**
   * True if it may use a connection that was kept open. The upstream may be closing such a connection. A read is then
   * repeated for free on a new one. False for a write, because nothing would show whether it was processed.
   */
  readonly mayBeStale: boolean;
  /** True if it starts even without a free slot. */
  isUrgent: boolean;
  /**
   * The caller for whom the attempt's slot is counted, or the attempt's entry in the queue while it waits for a slot.
   * Undefined if it has neither.
   */
  slot: string | WaitingCall | undefined;
  /** The record of its call in the budget, while it waits for a place there or has one. */
  budgeted: BudgetedCall | undefined;
  /**
   * True while the attempt's key is unproven and its answer may prove the key. Such an attempt goes on until its
   * deadline, even after its waiters have left.
   */
  isTrial: boolean;
  /** Resolves after a time in milliseconds; never if the attempt is given up before. */
  sleep(milliseconds: number): Promise<void>;
  /** Fails the call for its waiters at once. The attempt itself goes on until its deadline. */
  failEarly(error: Error): void;
}

/** The end of an attempt. */
export type Outcome =
  // It was refused, or given up, before it was sent.
  | { readonly kind: 'not-sent' }
  // All waiters have left, and `timeouts` of them left at their deadline while the upstream had the call.
  | { readonly kind: 'given-up'; readonly timeouts: number; readonly tookMs: number }
  // No response came.
  | { readonly kind: 'failed'; readonly fault: Fault; readonly error: Error; readonly tookMs: number }
  // A response came. It is a success if there is no error. `provesKey` is true if the API gives such an answer only to
  // a key that it knows.
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly error: unknown;
      readonly provesKey: boolean;
      readonly tookMs: number;
    };

/** A step that may hold an attempt of a REST call back, refuse it, or learn from its end. */
export interface Gate {
  /**
   * Returns undefined if the attempt may go on at once, or a promise that resolves when it may. Throws, or rejects, if
   * it may not.
   */
  enter(attempt: Attempt): Promise<void> | undefined;
  /** Reports the end of an attempt. Called for each gate that it has entered or waits at, the last one first. */
  leave(attempt: Attempt, outcome: Outcome): void;
}
