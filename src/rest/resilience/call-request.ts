import type { CallSpans } from '../call-spans.ts';
import type { Caller } from '../caller.ts';
import type { OperationCalls } from '../operation-calls.ts';
import type { RestOperation } from '../operation-ids.ts';
import type { DecodedResponse } from '../transport/decode-response.ts';

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
  /** Whether it has an effect: then it is sent once, whatever becomes of it, and its answer is read even without room. */
  readonly isWrite: boolean;
  /** Done once it may be sent, and before it is. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** The value that a response holds. Throws an UpstreamError if it holds none. */
  readonly decode: (response: DecodedResponse) => T;
}
