import type { PlannedRun } from './operation-run.ts';
import type { OperationResult } from './result.ts';
import { stringifyResult } from './serialize.ts';

/**
 * The result of a query that need not be executed: an equal one has made it of cached answers alone, and all of these are
 * still in the cache and fresh. Undefined if it has to be executed.
 */
export function reusedResult({ document: { prepared }, cache, answerName }: PlannedRun): OperationResult | undefined {
  const known = answerName === undefined ? undefined : cache?.reuse(answerName);
  if (known === undefined) return undefined;
  const { text, bytes } = known;
  return { prepared, text, mostBytes: bytes, freshMs: cache?.freshMs };
}

/** Keeps the answer of a query for equal ones, if it was made of fresh answers of the cache alone. */
export function keepResult({ cache, answerName }: PlannedRun, result: OperationResult): void {
  if (cache?.isReusable !== true || answerName === undefined || result.errors !== undefined) return;
  result.text ??= stringifyResult(result);
  cache.keepText(answerName, result.text);
}
