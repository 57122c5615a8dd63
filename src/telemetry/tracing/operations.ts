import { codesOf } from '../../operation/operation-report.ts';
import type { OperationResult } from '../../operation/operation-result.ts';
import type { RequestContext } from '../../operation/operation-run.ts';
import { asksForPlan } from '../../operation/params.ts';
import type { RunOperation } from '../../operation/pipeline.ts';
import type { CallSpans, TraceContext } from '../../rest/call-spans.ts';

/** A tracing system. */
export interface Tracing {
  /** Begins the span of an operation; `trace` is the context of its request. */
  readonly begin: (request: Pick<RequestContext, 'trace' | 'method' | 'requestId' | 'tool'>) => OperationSpan;
}

/** One operation in a tracing system. Its REST calls are its children. */
export interface OperationSpan extends CallSpans {
  readonly trace: TraceContext;
  readonly end: (outcome: TracedOutcome) => void;
}

/** The facts that a span records when an operation ends. Type and name are undefined if its document was refused. */
interface TracedOutcome {
  readonly type: string | undefined;
  readonly name: string | undefined;
  /** True if its document is listed. Only then is the span named after the operation. */
  readonly listed: boolean;
  /** The code of its first error, or `CLIENT_LEFT`. */
  readonly code: string | undefined;
}

/** Records a span for every operation. Requests for a plan have none. */
export function traceOperations(run: RunOperation, tracing: Tracing): RunOperation {
  return async (params, request) => {
    if (asksForPlan(params)) return run(params, request);
    const span = tracing.begin(request);
    request.trace = span.trace;
    request.spans = span;
    const result = await run(params, request);
    const end = (errors: OperationResult['errors']): void => span.end(outcomeOf(result, codesOf(request, errors)));
    if (result.parts === undefined) end(result.errors);
    // The pipeline reports parts that cannot be made.
    else
      void result.parts.finished.then(
        ({ errors }) => end(errors),
        () => end(undefined),
      );
    return result;
  };
}

function outcomeOf({ prepared }: OperationResult, [code]: readonly string[]): TracedOutcome {
  const { operation, listed = false } = prepared ?? {};
  return { type: operation?.operation, name: operation?.name?.value, listed, code };
}
