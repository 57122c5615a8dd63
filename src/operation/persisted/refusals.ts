import type { GraphQLError } from 'graphql';
import { requestError } from '../request-error.ts';

/** What a client learns in one answer must not be remembered on the way: the next answer may be another. */
const uncached = { 'cache-control': 'private, no-store' } as const;

/**
 * A miss of an automatic persisted query: the client sends the text with its hash next. Clients recognise it by the
 * message; Apollo iOS takes any status but 200 for a failed transport.
 */
export function automaticMiss(): GraphQLError {
  return requestError('PersistedQueryNotFound', {
    code: 'PERSISTED_QUERY_NOT_FOUND',
    status: 200,
    headers: uncached,
  });
}

/** A miss while automatic persisted queries are off: the client sends texts from now on. */
export function automaticOff(): GraphQLError {
  return requestError('PersistedQueryNotSupported', {
    code: 'PERSISTED_QUERY_NOT_SUPPORTED',
    status: 200,
    headers: uncached,
  });
}

/** An id that nobody knows. The message must not read like a miss, or Apollo clients would send the text. */
export function unknownDocument(id: string): GraphQLError {
  return requestError(`There is no document with the id ${JSON.stringify(id.slice(0, 100))}.`, {
    code: 'PERSISTED_DOCUMENT_NOT_FOUND',
    status: 404,
  });
}

/** A text beside the SHA-256 of another one. */
export function hashMismatch(): GraphQLError {
  return requestError('The hash is not the SHA-256 of the document that came with it.', {
    code: 'PERSISTED_QUERY_HASH_MISMATCH',
    status: 400,
  });
}

/** A text beside the id of another document. */
export function textMismatch(): GraphQLError {
  return requestError('The id belongs to another document than the one that came with it.', {
    code: 'BAD_USER_INPUT',
    status: 400,
  });
}

/** Free text where only listed documents are run. */
export function documentRequired(): GraphQLError {
  return requestError('Only documents listed in the manifest are run: send the id of one.', {
    code: 'PERSISTED_DOCUMENT_REQUIRED',
    status: 403,
  });
}
