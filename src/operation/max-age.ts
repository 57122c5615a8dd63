import { hash } from 'node:crypto';
import type { OperationRun } from './operation-run.ts';
import type { OperationResult } from './result.ts';
import { stringifyResult } from './serialize.ts';

/**
 * Adds to a result the time for which its client may keep it, and its tag, with which the client can ask later whether
 * it has changed. Only a GET with the id of a document qualifies, because it always requests the same operation.
 * `getMaxAge` is in seconds; the freshness of kept answers may shorten it.
 */
export function withMaxAge(
  { document, request: { method } }: OperationRun,
  result: OperationResult,
  { getMaxAge, now }: { readonly getMaxAge: number; readonly now: () => number },
): OperationResult {
  const { errors, parts, freshUntil = Number.POSITIVE_INFINITY } = result;
  const isKept = method === 'GET' && document?.byId === true && errors === undefined && parts === undefined;
  if (getMaxAge === 0 || !isKept) return result;
  result.text ??= stringifyResult(result);
  result.tag ??= hash('sha1', result.text, 'base64url');
  return { ...result, maxAge: Math.max(0, Math.min(getMaxAge, Math.floor((freshUntil - now()) / 1000))) };
}
