import type { CallSpans, TraceContext } from './call-spans.ts';
import type { Caller } from './caller.ts';
import type { OperationEpoch } from './epochs.ts';
import type { OperationCalls } from './operation-calls.ts';
import type { OperationDeadline } from './operation-deadline.ts';

/** One operation, as its REST calls see it. */
export interface RestRun {
  /** The caller in whose name the calls are made. */
  readonly caller: Caller;
  readonly deadline: OperationDeadline;
  readonly calls: OperationCalls;
  /** Its epoch, which its own writes renew. Reads are shared only within one epoch. */
  readonly epoch: OperationEpoch;
  /** True if no client waits for its calls. */
  readonly isBackground?: boolean | undefined;
  readonly trace?: TraceContext;
  /** The spans of its calls; undefined without tracing. */
  readonly spans?: CallSpans | undefined;
}

/** An operation that may have no caller, because its request has no well-formed key. It then makes no calls. */
export type AnyRestRun = RestRun | (Omit<RestRun, 'caller'> & { readonly caller: undefined });
