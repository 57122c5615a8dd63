import { upstreamErrorCodes } from '../rest/errors.ts';

/** Every code that an operation can be counted with: those of errors, `none` without an error. */
export const answerCodes: readonly string[] = [
  'none',
  // Nobody waited for the answer any more.
  'CLIENT_LEFT',
  ...upstreamErrorCodes,
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'INTERNAL_SERVER_ERROR',
  'LIMIT_EXCEEDED',
  'PERSISTED_DOCUMENT_NOT_FOUND',
  'PERSISTED_DOCUMENT_REQUIRED',
  'PERSISTED_QUERY_HASH_MISMATCH',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
];
