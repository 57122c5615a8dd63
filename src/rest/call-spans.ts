import type { RestOperation } from './rest-operations.ts';

/** The W3C trace context headers. Only these headers and the key are passed on from a client to the upstream. */
export type TraceContext = Readonly<Record<string, string>>;

/** The spans of the REST calls of one operation. */
export interface CallSpans {
  /** Begins the span of a call that is sent; `resends` is the number of earlier attempts. */
  readonly begin: (operation: RestOperation, resends: number) => CallSpan;
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
