import type { OperationRun } from './operation-run.ts';
import type { OperationResult } from './result.ts';

/**
 * The result with the time for which its client may cache it. Only a GET with the id of a document always asks for the
 * same. `getMaxAge` is in seconds; the freshness of cached answers may shorten it.
 */
export function withMaxAge(
  { document, request: { method } }: OperationRun,
  result: OperationResult,
  getMaxAge: number,
): OperationResult {
  const { errors, parts, freshMs = Number.POSITIVE_INFINITY } = result;
  const isCacheable = method === 'GET' && document?.byId === true && errors === undefined && parts === undefined;
  if (getMaxAge === 0 || !isCacheable) return result;
  return { ...result, maxAge: Math.max(0, Math.min(getMaxAge, Math.floor(freshMs / 1000))) };
}
