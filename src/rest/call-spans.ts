import type { RestOperation } from './operation-ids.ts';

/** W3C trace context headers, the only headers beside the key that go upstream. */
export type TraceContext = Readonly<Record<string, string>>;

/** Follows the REST calls of one operation, for a tracing system. */
export interface CallSpans {
  /** A call of this REST operation goes out; `resends` says how often it has been sent already. */
  readonly begin: (operation: RestOperation, resends: number) => CallSpan;
  /** The operation is answered by what another one's span stands for; `trace` names that span. */
  readonly share: (trace: TraceContext) => void;
}

/** One REST call as a tracing system sees it. */
export interface CallSpan {
  /** What goes upstream in place of the operation's own trace context. */
  readonly trace: TraceContext;
  readonly answered: (status: number) => void;
  readonly failed: (error: unknown) => void;
}
