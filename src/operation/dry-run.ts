import { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import type { CreateContext } from './contexts.ts';
import type { PlannedRun } from './operation-run.ts';

/**
 * Whether the cache has every read of a query, which is found out by executing it with what is there, stale answers too; its
 * result is dropped. The first read that is not there ends it. So it costs no more than to answer from the cache would, and it
 * is not tried for an answer that takes long to make. `createContext` makes contexts that call nothing and leave no trace.
 */
export async function needsNoCall(
  { document: { prepared }, params, request: { caller }, cost, cache }: PlannedRun,
  { endsAt }: Pick<OperationDeadline, 'endsAt'>,
  createContext: CreateContext,
): Promise<boolean> {
  if (cache?.use !== 'normal' || prepared.operation.operation !== 'query' || cost.isLarge) return false;
  const deadline = new OperationDeadline(endsAt - performance.now());
  const context = createContext({ caller, trace: {}, spans: undefined }, deadline, new OperationCalls(0), cache);
  try {
    await prepared.execute(context, params.variables);
    return deadline.ended === undefined;
  } finally {
    deadline.finish();
    context.answer.finish();
  }
}
