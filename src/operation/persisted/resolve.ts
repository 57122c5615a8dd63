import type { Log } from '../../log.ts';
import { isIntrospection } from '../../look-ahead/selection-tree.ts';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.ts';
import { operationNamed, type Prepare, type PreparedOperation } from '../document.ts';
import { shownName } from '../operation-report.ts';
import type { GraphQLParams } from '../params.ts';
import { RefusedDocument, RequestError } from '../request-error.ts';
import { type AutomaticCounts, type Publish, type Registrations, refuseMismatch, registeredText } from './automatic.ts';
import { type DocumentCounts, type DocumentSet, isTextOf, type ListedDocument, listedByText } from './document-set.ts';
import { type DocumentId, documentIdOf, hashMismatch, hashOf, isHash } from './ids.ts';

/** The operation that a request asks for, by text or by id. */
export interface Resolved {
  readonly prepared: PreparedOperation;
  /** True if the request named the document by an id. */
  readonly byId: boolean;
  /** The counters of the document, if it was found among the listed ones. */
  readonly counts: DocumentCounts | undefined;
  /** Publishes to other processes the text that a client has registered. */
  readonly publish?: Publish | undefined;
}

/** Finds and prepares the operation of a request. Throws, or rejects with, GraphQLErrors and RefusedDocuments. */
export type ResolveDocument = (params: GraphQLParams) => MaybePromise<Resolved>;

/**
 * The modes of listed documents. `off` ignores manifests. `allow` runs any text. `log` runs any text as well, but logs
 * the texts that `only` would refuse. `only` runs nothing but listed documents, sent by id or as text.
 */
export const documentModes = ['off', 'allow', 'log', 'only'] as const;
/** One of `documentModes`. */
export type DocumentMode = (typeof documentModes)[number];

interface ResolveOptions {
  readonly mode: DocumentMode;
  readonly introspection: boolean;
  readonly documents: () => DocumentSet;
  readonly prepare: Prepare;
  /** The documents that clients registered; undefined if automatic persisted queries are off. */
  readonly store: Registrations | undefined;
  readonly automatic: AutomaticCounts;
  readonly log: Log;
}

/** Looks up documents. An id is looked up in the manifests, then among the documents that clients registered. */
export function createResolve(options: ResolveOptions): ResolveDocument {
  return (params) => {
    const id = documentIdOf(params);
    if (id === undefined) return resolveText(requiredText(params), params, options, false);
    const listed = options.documents().byId.get(id.id);
    if (listed !== undefined) return resolveListed(listed, params);
    const { query } = params;
    if (query !== undefined && query !== '') return resolveTextWithHash(query, id, params, options);
    const { store, automatic } = options;
    return mapMaybePromise(registeredText(id, store, automatic), (text): Resolved => {
      const resolved = resolveText(text, params, options, true);
      return { ...resolved, publish: store?.publishOf(id.id, text) };
    });
  };
}

function requiredText({ query }: GraphQLParams): string {
  if (query !== undefined && query !== '') return query;
  throw new RequestError('badParameter', 'Expected `query` to be a GraphQL document, but there is none.');
}

function resolveText(text: string, params: GraphQLParams, options: ResolveOptions, byId: boolean): Resolved {
  const { mode, documents, prepare, introspection, log } = options;
  if (mode === 'log' || mode === 'only') {
    const listed = listedByText(documents(), text);
    if (listed !== undefined) return operationIn(listed, params, byId);
    if (mode === 'log') logUnlisted(text, params, log);
    else if (!introspection || !asksOnlyForSchema(text, params, prepare))
      throw new RequestError('unlistedDocument', 'Only documents listed in the manifest are run: send the id of one.');
  }
  return { prepared: prepare(text, params.operationName), byId, counts: undefined };
}

function logUnlisted(text: string, { operationName }: GraphQLParams, log: Log): void {
  const fields = { operationName: shownName(operationName), documentId: `sha256:${hashOf(text)}` };
  log('warn', 'a document that is not listed was sent', fields);
}

/** True if an operation only reads the schema. Editors such as GraphiQL send texts of their own for that. */
function asksOnlyForSchema(text: string, { operationName }: GraphQLParams, prepare: Prepare): boolean {
  let prepared: PreparedOperation;
  try {
    prepared = prepare(text, operationName);
  } catch {
    return false;
  }
  const names = prepared.operation.selectionSet.selections.map((node) =>
    node.kind === 'Field' ? node.name.value : '',
  );
  return names.some(isIntrospection) && names.every((name) => isIntrospection(name) || name === '__typename');
}

/** The operation that a request asks for. Throws the errors of a document that is not valid. */
function operationIn(
  { operations, counts }: ListedDocument,
  { operationName }: GraphQLParams,
  byId: boolean,
): Resolved {
  if (!(operations instanceof RefusedDocument))
    return { prepared: operationNamed(operations, operationName), byId, counts };
  // The pipeline does not get the document, and cannot count this use of it.
  counts.hits += 1;
  counts.errors += 1;
  throw operations;
}

/** Resolves a listed document. If the request also has a text, it must be the listed one. */
function resolveListed(listed: ListedDocument, params: GraphQLParams): Resolved {
  const { query } = params;
  if (query === undefined || query === '' || isTextOf(listed, query)) return operationIn(listed, params, true);
  if (isHash(listed.id)) throw hashMismatch();
  throw new RequestError('badParameter', 'The id belongs to another document than the one that came with it.');
}

/**
 * Resolves a text that comes with its hash. Registers the text, unless it was found to be listed or automatic
 * persisted queries are off.
 */
function resolveTextWithHash(text: string, id: DocumentId, params: GraphQLParams, options: ResolveOptions): Resolved {
  refuseMismatch(text, id);
  const { store, automatic } = options;
  const resolved = resolveText(text, params, options, true);
  if (store === undefined || resolved.prepared.listed) return resolved;
  store.set(id.id, text);
  automatic.registrations += 1;
  return { ...resolved, publish: store.publishOf(id.id, text) };
}
