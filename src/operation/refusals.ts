import type { GraphQLError } from 'graphql';
import { UpstreamError } from '../rest/errors.ts';
import type { PreparedOperation } from './document.ts';
import type { RequestContext } from './pipeline.ts';
import { requestError } from './request-error.ts';

/** A link or an image could otherwise change something. */
export function refuseMutationByGet({ operation }: PreparedOperation, { method }: RequestContext): void {
  if (method !== 'GET' || operation.operation === 'query') return;
  throw requestError('Expected a mutation to come by POST, but it came by GET.', {
    code: 'METHOD_NOT_ALLOWED',
    status: 405,
    headers: { allow: 'POST' },
  });
}

/** Nothing was executed: the same request may succeed a moment later. */
export function overload(): GraphQLError {
  return requestError(new UpstreamError('OVERLOADED').message, {
    code: 'OVERLOADED',
    status: 503,
    headers: { 'retry-after': '1' },
  });
}
