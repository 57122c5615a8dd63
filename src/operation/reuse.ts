import type { PlannedRun } from './operation-run.ts';
import type { OperationResult } from './result.ts';
import { stringifyResult } from './serialize.ts';

/**
 * The result of a query whose answer is known: an equal one has made it of nothing but answers of the cache, and would be
 * given the same ones again, all of them in time. Undefined if it has to be executed.
 */
export function reusedResult({ document: { prepared }, cache, answerName }: PlannedRun): OperationResult | undefined {
  const known = answerName === undefined ? undefined : cache?.reuse(answerName);
  if (known === undefined) return undefined;
  const { text, bytes } = known;
  const { document, listed } = prepared;
  return { document, listed, text, mostBytes: bytes, freshMs: cache?.freshMs };
}

/** Keeps the answer of a query for equal ones, if all that it was made of came from the cache, in time. */
export function keepResult({ cache, answerName }: PlannedRun, result: OperationResult): void {
  if (cache?.isReusable !== true || answerName === undefined || result.errors !== undefined) return;
  result.text ??= stringifyResult(result);
  cache.keepText(answerName, result.text);
}
