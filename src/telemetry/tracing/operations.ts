import { codesOf } from '../../operation/operation-report.ts';
import type { RequestContext } from '../../operation/operation-run.ts';
import { asksForPlan } from '../../operation/params.ts';
import type { RunOperation } from '../../operation/pipeline.ts';
import type { OperationResult } from '../../operation/result.ts';
import type { CallSpans, TraceContext } from '../../rest/call-spans.ts';

/** A tracing system. */
export interface Tracing {
  /** An operation begins; `trace` is the context that came with it. */
  readonly begin: (request: Pick<RequestContext, 'trace' | 'method' | 'requestId' | 'tool'>) => OperationSpan;
}

/** One operation as a tracing system sees it; its REST calls are its children. */
export interface OperationSpan extends CallSpans {
  /** What stands for the operation in calls that it makes. */
  readonly trace: TraceContext;
  readonly end: (outcome: TracedOutcome) => void;
}

/** What a span says of an operation at its end. Undefined if its document was refused. */
interface TracedOutcome {
  readonly type: string | undefined;
  readonly name: string | undefined;
  /** True if its document is listed: then there are few such names. */
  readonly listed: boolean;
  /** The code of its first error, or `CLIENT_LEFT`. */
  readonly code: string | undefined;
}

/** Follows every operation with a span; requests for a plan have none. */
export function traceOperations(run: RunOperation, tracing: Tracing): RunOperation {
  return async (params, request) => {
    if (asksForPlan(params)) return run(params, request);
    const span = tracing.begin(request);
    request.trace = span.trace;
    request.spans = span;
    const result = await run(params, request);
    const end = (errors: OperationResult['errors']): void => span.end(outcomeOf(result, codesOf(request, errors)));
    if (result.parts === undefined) end(result.errors);
    else void result.parts.over.then(({ errors }) => end(errors));
    return result;
  };
}

function outcomeOf({ prepared }: OperationResult, [code]: readonly string[]): TracedOutcome {
  const { operation, listed = false } = prepared ?? {};
  return { type: operation?.operation, name: operation?.name?.value, listed, code };
}
