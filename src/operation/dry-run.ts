import type { Needs } from '../rest/budget/call-budget.ts';
import { TriedReads } from '../rest/cache-only-client.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import type { CreateDryContexts } from './contexts.ts';
import type { PlannedRun } from './operation-run.ts';
import { overload } from './request-error.ts';
import type { OperationResult } from './result.ts';

/** What the cache has of what an operation reads. */
export interface Spared {
  /** Whether that is all: then no call is needed. */
  readonly isAll: boolean;
  /** How many reads, by surface. */
  readonly answered: Needs;
}

/**
 * Finds out what the cache has of what a query reads by executing it with that, stale answers too; its result is dropped. So it
 * costs no more than to answer from the cache would, and it is not tried for an answer that takes long to make.
 * `createContexts` makes contexts that call nothing and leave no trace.
 */
export async function tryCache(
  { document: { prepared }, params, request: { caller }, cost, cache }: PlannedRun,
  { endsAt }: Pick<OperationDeadline, 'endsAt'>,
  createContexts: CreateDryContexts,
): Promise<Spared> {
  if (cache?.use !== 'normal' || prepared.operation.operation !== 'query' || cost.isLarge) return nothing;
  const deadline = new OperationDeadline(endsAt - performance.now());
  const reads = new TriedReads();
  const context = createContexts(reads)(
    { caller, trace: {}, spans: undefined },
    deadline,
    new OperationCalls(0),
    cache,
  );
  try {
    await prepared.execute(context, params.variables);
    return { isAll: reads.isAll && deadline.ended === undefined, answered: reads.answered };
  } finally {
    deadline.finish();
    context.answer.finish();
  }
}

/**
 * Executes an operation for whose calls there is no room if the cache has all that it reads: then it needs none. Throws the
 * refusal of an overload if not.
 */
export async function executeIfSpared(
  run: PlannedRun,
  deadline: Pick<OperationDeadline, 'endsAt'>,
  createContexts: CreateDryContexts,
  execute: () => Promise<OperationResult> | OperationResult,
): Promise<OperationResult> {
  const { isAll } = await tryCache(run, deadline, createContexts);
  if (!isAll) throw overload();
  return execute();
}

const nothing: Spared = { isAll: false, answered: {} };
