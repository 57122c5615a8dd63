import type { BudgetedCall } from '../budget/call-budget.ts';
import type { RestOperation } from '../rest-operations.ts';
import type { RestRun } from '../rest-run.ts';
import type { DecodedResponse } from '../transport/decode-response.ts';
import type { Fault } from '../transport/transport.ts';
import type { WaitingCall } from './concurrency-limiter.ts';

/** The request of a call. */
export interface CallRequest {
  readonly endpoint: RestOperation;
  /** Path and query, as in the documentation of the API: without the path of `UPSTREAM_URL`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** True if it has an effect. It is then sent at most once, and its answer is read even without memory for it. */
  readonly isWrite: boolean;
  /** The value that a response holds. Throws an UpstreamError if it holds none. */
  readonly decode: (response: DecodedResponse) => unknown;
  /** Called with the result. If it returns a promise, which never rejects, the waiters get the result after that. */
  readonly onResult?: ((result: CallResult) => Promise<void> | undefined) | undefined;
}

/** A response, and the value in it. */
export interface CallSuccess {
  readonly value: unknown;
  readonly response: DecodedResponse;
  /** The time at which the request was sent, on the clock of `performance.now()`. */
  readonly sentAt: number;
}

export type CallResult = CallSuccess | { readonly error: unknown };

/**
 * One attempt of a REST call, as gates see it. A retry is a new attempt. Gates keep most of their state about attempts
 * here: a set or map that grows keeps its old tables in V8, and these would keep ended attempts alive.
 */
export interface Attempt {
  /** The operation that makes the call. Other operations may join it. */
  readonly run: RestRun;
  readonly request: Pick<CallRequest, 'endpoint' | 'isWrite'>;
  /**
   * The latest deadline of the operations that wait for it, on the clock of `performance.now()`. It may become later
   * when an operation joins.
   */
  readonly endsAt: number;
  /** True if no client waits for it. Such a call may not use the last calls of its key, which are kept for clients. */
  readonly isBackground: boolean;
  /**
   * True if it may use a connection that was kept open, although the upstream may be closing it. A read may: if the
   * upstream closes the connection, the read is repeated for free on a new one. A write may not: nothing would show
   * whether it was processed.
   */
  readonly mayBeStale: boolean;
  /** True if it starts even without a free slot. */
  isUrgent: boolean;
  /** The party for which its slot is counted, or its entry in the queue for a slot. Undefined if it has neither. */
  slot: string | WaitingCall | undefined;
  /** Its entry in the budget. Undefined if it neither waits for the budget nor has reserved a call there. */
  reserved: BudgetedCall | undefined;
  /** True while its answer may prove the key. It then goes on until its deadline, even after its waiters have left. */
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
  // A response came. `error` is undefined for a success. `provesKey` is true if only a known key gets such an answer.
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly error: unknown;
      readonly provesKey: boolean;
      readonly tookMs: number;
    };

/** A step that may hold an attempt of a REST call back, refuse it, or learn from its end. */
export interface Gate {
  /** Undefined if the attempt may go on at once; else resolves when it may. Throws, or rejects, if it may not. */
  enter(attempt: Attempt): Promise<void> | undefined;
  /**
   * Learns of the end of an attempt. Called for each gate that the attempt has entered or waits at, the last one first.
   */
  leave(attempt: Attempt, outcome: Outcome): void;
}
