import { hash } from 'node:crypto';
import { isObject } from '../../rest/values.ts';
import { type GraphQLParams, idMembers } from '../params.ts';
import { RequestError } from '../request-error.ts';

/** The id of a document in a request, and whether a miss must be answered as automatic persisted queries require. */
export interface DocumentId {
  /** Normalised by `toDocumentId`. */
  readonly id: string;
  /** True if the id came in `extensions.persistedQuery`: after a miss, its client will send the text. */
  readonly automatic: boolean;
}

/** The id of the document in a request; undefined if the request has none. Throws if the id is malformed. */
export function documentIdOf({ ids, extensions }: GraphQLParams): DocumentId | undefined {
  const persistedQuery = extensions?.['persistedQuery'];
  const automatic = persistedQuery === undefined || persistedQuery === null ? undefined : automaticId(persistedQuery);
  let id = automatic;
  for (const name of idMembers) {
    const value = ids[name];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') throw malformed(`Expected \`${name}\` to be a string.`);
    const other = toDocumentId(value);
    if (id !== undefined && id !== other) throw malformed('Expected one id of a document, but got two different ones.');
    id = other;
  }
  return id === undefined ? undefined : { id, automatic: automatic !== undefined };
}

/** Normalises an id: `sha256:H`, `H` and H in capitals are the same SHA-256 (appendix A, Document identifier). */
export function toDocumentId(id: string): string {
  return /^(?:sha256:)?[\da-f]{64}$/i.test(id) ? id.slice(-64).toLowerCase() : id;
}

/** True if a normalised id is a SHA-256: only such an id can be checked against a text. */
export function isHash(id: string): boolean {
  return /^[\da-f]{64}$/.test(id);
}

/** The SHA-256 of a text as UTF-8, which serves as its id (appendix A, SHA256 Hex Document Identifier). */
export function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * The id in `extensions.persistedQuery` of automatic persisted queries
 * (https://www.apollographql.com/docs/apollo-server/performance/apq).
 */
function automaticId(persistedQuery: unknown): string {
  if (!isObject(persistedQuery)) throw malformed('Expected `extensions.persistedQuery` to be an object.');
  const { version, sha256Hash } = persistedQuery;
  if (version !== 1) throw malformed('Expected `extensions.persistedQuery.version` to be 1.');
  if (typeof sha256Hash === 'string' && sha256Hash !== '') return toDocumentId(sha256Hash);
  throw malformed('Expected `extensions.persistedQuery.sha256Hash` to be the SHA-256 of the document.');
}

/**
 * The refusal of an id that no document has. Its message must not read like a miss of automatic persisted queries,
 * because Apollo clients would then send the text.
 */
export function unknownDocument(id: string): RequestError {
  return new RequestError('unknownDocument', `There is no document with the id ${JSON.stringify(id.slice(0, 100))}.`);
}

function malformed(message: string): Error {
  return new RequestError('badParameter', message);
}

/** The refusal of a text that comes with the hash of another one. */
export function hashMismatch(): RequestError {
  return new RequestError('hashMismatch', 'The hash is not the SHA-256 of the document that came with it.');
}
