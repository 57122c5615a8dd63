import type { PlannedRun } from './operation-run.ts';
import type { OperationResult } from './result.ts';
import { stringifyResult } from './serialize.ts';

/**
 * The result of a query that need not be executed, because an equal query was answered from the cache alone and all of
 * the cached answers that it used are still fresh. Undefined if the query has to be executed.
 */
export function reusedResult({ document: { prepared }, cache, answerName }: PlannedRun): OperationResult | undefined {
  const known = answerName === undefined ? undefined : cache?.reuse(answerName);
  if (known === undefined) return undefined;
  const { text, bytes } = known;
  return { prepared, text, mostBytes: bytes, freshMs: cache?.freshMs };
}

/** Keeps the answer of a query for equal queries, if it was made from fresh cached answers alone. */
export function keepResult({ cache, answerName }: PlannedRun, result: OperationResult): void {
  if (cache?.isReusable !== true || answerName === undefined || result.errors !== undefined) return;
  result.text ??= stringifyResult(result);
  cache.keepText(answerName, result.text);
}
