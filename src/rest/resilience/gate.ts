import type { Claim, Permit } from '../budget/call-budget.ts';
import type { CallSpans } from '../call-spans.ts';
import type { Caller } from '../caller.ts';
import type { OperationCalls } from '../operation-calls.ts';
import type { RestOperation } from '../operation-ids.ts';
import type { DecodedResponse } from '../transport/decode-response.ts';
import type { Fault } from '../transport/transport.ts';

/** The operation that makes a call. */
export interface CallOwner {
  readonly caller: Caller;
  readonly calls: OperationCalls;
  /** Follows its calls; undefined without tracing. */
  readonly spans: CallSpans | undefined;
  /** True once one of its calls has succeeded: then a 401 is about what was asked for, and not about the key. */
  hasSucceeded: boolean;
}

/** What a call asks of the upstream. */
export interface CallRequest<T> {
  readonly operation: RestOperation;
  /** Path and query, as the API names them. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** True if it has an effect: then it is sent once, whatever becomes of it, and its answer is read even without room. */
  readonly isWrite: boolean;
  /** Done once it may be sent, and before it is. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** The value that a response holds. Throws an UpstreamError if it holds none. */
  readonly decode: (response: DecodedResponse) => T;
}

/**
 * One attempt of a REST call, as gates see it. A call that is repeated is an attempt again once the one before has left. What
 * gates note of nearly every attempt is noted here: V8 would keep attempts beyond their end that were in a set or a map, in
 * tables which that has outgrown.
 */
export interface Attempt {
  readonly owner: CallOwner;
  readonly request: Pick<CallRequest<unknown>, 'operation' | 'isWrite' | 'beforeSend'>;
  /** When the last operation that waits for it ends, in milliseconds of the clock of deadlines. Grows as others join. */
  readonly endsAt: number;
  /** True if no client waits for it: then it takes no call that others may need. */
  readonly isBackground: boolean;
  /** True once all who waited for it have left. */
  readonly isGivenUp: boolean;
  /**
   * True if it may go on a connection that was kept open. The upstream may close such a connection just now: a read is
   * repeated for free then, on a new connection, but nothing would show whether a write was processed.
   */
  readonly mayBeStale: boolean;
  /** True if it does not wait for a slot. */
  isUrgent: boolean;
  /** True while it has a slot. */
  hasSlot: boolean;
  /** Its place in the budget: asked for, or had. */
  claim: Claim | undefined;
  permit: Permit | undefined;
  /** True if it is not given up before the end of its time: its answer says whether the key is known. */
  isProof: boolean;
  /** Resolves after so many milliseconds; never if it is given up before. */
  sleep(milliseconds: number): Promise<void>;
  /** Fails for those who wait for it, and goes on to the end of its time. */
  overtake(error: Error): void;
}

/** The end of an attempt. */
export type Outcome =
  // It was refused, or given up, before it was sent.
  | { readonly kind: 'not-sent' }
  // All who waited for it have left; `timeouts` of them at their deadline, while the upstream had it.
  | { readonly kind: 'given-up'; readonly timeouts: number; readonly tookMs: number }
  // No response came.
  | { readonly kind: 'failed'; readonly fault: Fault; readonly error: Error; readonly tookMs: number }
  // A response came. Without an error it is a success; `isKnown`: the API says such a thing only to a key that it knows.
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly error: unknown;
      readonly isKnown: boolean;
      readonly tookMs: number;
    };

/** Something that may keep an attempt of a REST call back, or that learns from its end. */
export interface Gate {
  /** Undefined: it may go on now. A promise: once that resolves. Throws, or rejects, if it may not. */
  enter(attempt: Attempt): Promise<void> | undefined;
  /** The attempt has ended. Called for each gate that it has entered, or waits at, the last one first. */
  left(attempt: Attempt, outcome: Outcome): void;
}

/** The gate of what a call does before it is sent, such as to renew the epoch of its key before a write. */
export const beforeSending: Gate = {
  enter: ({ request }) => request.beforeSend?.(),
  left: () => undefined,
};
