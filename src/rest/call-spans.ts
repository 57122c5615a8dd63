import type { RestOperation } from './rest-operations.ts';

/** The W3C trace context headers. Only these headers and the key are passed on from a client to the upstream. */
export type TraceContext = Readonly<Record<string, string>>;

/** Follows the REST calls of one operation, for a tracing system. */
export interface CallSpans {
  /** Begins the span of a call that is sent; `resends` is the number of earlier attempts. */
  readonly begin: (operation: RestOperation, resends: number) => CallSpan;
  /** Notes that the operation has joined a call of another operation. `trace` names the span of that call. */
  readonly share: (trace: TraceContext) => void;
}

/** One REST call as a tracing system sees it. */
export interface CallSpan {
  /** The trace context that is sent upstream in place of the operation's own. */
  readonly trace: TraceContext;
  readonly answered: (status: number) => void;
  readonly failed: (error: unknown) => void;
}
