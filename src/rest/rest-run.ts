import type { Caller } from './caller.ts';
import type { OperationCalls } from './operation-calls.ts';
import type { OperationDeadline } from './operation-deadline.ts';
import type { OperationEpoch } from './read-your-writes.ts';
import type { RestOperation } from './rest-operations.ts';

/** One operation, as its REST calls see it. */
export interface RestRun {
  readonly caller: Caller;
  readonly deadline: OperationDeadline;
  readonly calls: OperationCalls;
  /** Reads are shared only within one epoch. A write of the operation renews it. */
  readonly epoch: OperationEpoch;
  /** True if no client waits for its calls. */
  readonly isBackground?: boolean | undefined;
  readonly trace?: TraceContext;
  /** The spans of its calls; undefined without tracing. */
  readonly spans?: CallSpans | undefined;
}

/** An operation that may have no caller. Without a well-formed key in its request, it makes no calls. */
export type AnyRestRun = RestRun | (Omit<RestRun, 'caller'> & { readonly caller: undefined });

/** The W3C trace context headers. Only these headers and the key are passed on from a client to the upstream. */
export type TraceContext = Readonly<Record<string, string>>;

/** The spans of the REST calls of one operation. */
export interface CallSpans {
  /** Begins the span of a call that is sent; `resends` is the number of earlier attempts. */
  readonly begin: (endpoint: RestOperation, resends: number) => CallSpan;
  /** Notes that the operation has joined a call of another operation. `trace` names the span of that call. */
  readonly share: (trace: TraceContext) => void;
}

/** The span of one REST call. */
export interface CallSpan {
  /** Sent upstream in place of the operation's own trace context. */
  readonly trace: TraceContext;
  readonly answered: (status: number) => void;
  readonly failed: (error: unknown) => void;
}
