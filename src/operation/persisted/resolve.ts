import type { GraphQLError } from 'graphql';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.ts';
import type { Prepare, PreparedOperation } from '../document.ts';
import type { GraphQLParams } from '../params.ts';
import { requestError } from '../request-error.ts';
import { type DocumentSet, isTextOf, type ListedDocument, listedByText } from './document-set.ts';
import { type DocumentId, documentIdOf, hashOf, isHash } from './ids.ts';
import type { Registrations, Share } from './store.ts';
import type { AutomaticUse, DocumentUse } from './uses.ts';

/** The operation that a request asks for, by text or by id. */
export interface Resolved {
  readonly prepared: PreparedOperation;
  /** True if the request named the document by an id. */
  readonly byId: boolean;
  /** Counters of the listed document; undefined if the document is not listed. */
  readonly use: DocumentUse | undefined;
  /** Shares the text that a client registered with other processes; undefined if there is nothing to share. */
  readonly share?: Share | undefined;
}

/** Finds and prepares the operation of a request. Throws, or rejects with, GraphQLErrors and RefusedDocuments. */
export type ResolveDocument = (params: GraphQLParams) => MaybePromise<Resolved>;

/** Decides which texts that are not listed may run. */
export interface Policy {
  /** Admits a text that is not listed, and may log it. Throws the reason if the text may not run. */
  readonly admit: (text: string, params: GraphQLParams) => void;
  /** True if texts are looked up in the list. */
  readonly readsText: boolean;
}

/** Collaborators of the look-up. */
export interface ResolveOptions {
  readonly documents: () => DocumentSet;
  readonly prepare: Prepare;
  readonly policy: Policy;
  /** The documents that clients registered; undefined if automatic persisted queries are off. */
  readonly store: Registrations | undefined;
  readonly automatic: AutomaticUse;
}

/**
 * Looks up documents. An id is first looked up in the manifests, then among the documents that clients registered. A
 * text is subject to the policy.
 */
export function createResolve(options: ResolveOptions): ResolveDocument {
  return (params) => {
    const id = documentIdOf(params);
    if (id === undefined) return ofText(requiredText(params), params, options, false);
    const listed = options.documents().byId.get(id.id);
    if (listed !== undefined) return ofListed(listed, params);
    const { query } = params;
    return query === undefined || query === '' ? ofStored(id, params, options) : ofProven(query, id, params, options);
  };
}

function requiredText({ query }: GraphQLParams): string {
  if (query !== undefined && query !== '') return query;
  throw requestError('badParameter', 'Expected `query` to be a GraphQL document, but there is none.');
}

function ofText(text: string, params: GraphQLParams, options: ResolveOptions, byId: boolean): Resolved {
  const { policy, documents, prepare } = options;
  const listed = policy.readsText ? listedByText(documents(), text) : undefined;
  if (listed !== undefined) return run(listed, params, byId);
  policy.admit(text, params);
  return { prepared: prepare(text, params.operationName), byId, use: undefined };
}

function run({ operations, use }: ListedDocument, { operationName }: GraphQLParams, byId: boolean): Resolved {
  return { prepared: operations.named(operationName), byId, use };
}

/** Resolves a listed document. If the request also has a text, it must be the listed one. */
function ofListed(listed: ListedDocument, params: GraphQLParams): Resolved {
  const { query } = params;
  if (query === undefined || query === '' || isTextOf(listed, query)) return run(listed, params, true);
  if (isHash(listed.id)) throw hashMismatch();
  throw requestError('badParameter', 'The id belongs to another document than the one that came with it.');
}

/** Resolves a text that comes with its hash. The text is registered if it may run. */
function ofProven(text: string, id: DocumentId, params: GraphQLParams, options: ResolveOptions): Resolved {
  if (!isHash(id.id) && !id.automatic) throw unknownDocument(id.id);
  if (hashOf(text) !== id.id) throw hashMismatch();
  const { store, automatic } = options;
  const resolved = ofText(text, params, options, true);
  if (store === undefined || resolved.prepared.listed) return resolved;
  store.set(id.id, text);
  automatic.registrations += 1;
  return { ...resolved, share: store.shareOf(id.id, text) };
}

function ofStored(id: DocumentId, params: GraphQLParams, options: ResolveOptions): MaybePromise<Resolved> {
  const { store, automatic } = options;
  if (store === undefined)
    throw id.automatic ? requestError('automaticOff', 'PersistedQueryNotSupported') : unknownDocument(id.id);
  return mapMaybePromise(isHash(id.id) ? store.get(id.id) : undefined, (text): Resolved => {
    automatic[text === undefined ? 'misses' : 'hits'] += 1;
    if (text !== undefined) return { ...ofText(text, params, options, true), share: store.shareOf(id.id, text) };
    throw id.automatic ? requestError('automaticMiss', 'PersistedQueryNotFound') : unknownDocument(id.id);
  });
}

/**
 * The refusal of an id that no document has. Its message must not read like a miss of automatic persisted queries,
 * because Apollo clients would then send the text.
 */
function unknownDocument(id: string): GraphQLError {
  return requestError('unknownDocument', `There is no document with the id ${JSON.stringify(id.slice(0, 100))}.`);
}

function hashMismatch(): GraphQLError {
  return requestError('hashMismatch', 'The hash is not the SHA-256 of the document that came with it.');
}
