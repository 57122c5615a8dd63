import type { CallSpans, TraceContext } from './call-spans.ts';
import type { Caller } from './caller.ts';
import type { OperationCalls } from './operation-calls.ts';
import type { OperationDeadline } from './operation-deadline.ts';
import type { OperationEpoch } from './write-epochs.ts';

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
