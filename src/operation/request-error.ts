import { GraphQLError } from 'graphql';
import { UpstreamError, upstreamErrorCodes } from '../rest/errors.ts';

/** The answer to one kind of refused request. Nothing of the request is executed. */
interface RefusalRule {
  readonly code: string;
  readonly status: number;
  /**
   * True if the status is 200 for clients that accept `application/json` (GraphQL over HTTP §6.4.1). This holds for
   * documents that do not parse or validate, because older clients take any other status for a failed transport.
   */
  readonly lenient?: true;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The headers of answers that must not be kept, because the next answer to the same request may differ. */
const uncached = { 'cache-control': 'private, no-store' } as const;

/** The header that closes the connection, because the rest of the body is not worth waiting for. */
const closing = { connection: 'close' } as const;

/** The ways to refuse a request before execution, roughly in the order in which the gateway checks. */
export const refusals = {
  // The request has too many headers.
  manyHeaders: { code: 'LIMIT_EXCEEDED', status: 431, headers: closing },
  // `Host` or `Transfer-Encoding` is malformed or sent twice.
  badHead: { code: 'BAD_USER_INPUT', status: 400, headers: closing },
  // The method is neither GET nor POST.
  wrongMethod: { code: 'METHOD_NOT_ALLOWED', status: 405, headers: { allow: 'GET, POST' } },
  // The body is not declared as JSON.
  notJson: { code: 'BAD_USER_INPUT', status: 415, headers: { accept: 'application/json' } },
  // The body has a content coding.
  encodedBody: { code: 'BAD_USER_INPUT', status: 415, headers: { 'accept-encoding': 'identity' } },
  // The body is larger than it may be.
  largeBody: { code: 'LIMIT_EXCEEDED', status: 413, headers: closing },
  // There is no room for the bodies of more requests.
  noRoomForBody: { code: 'OVERLOADED', status: 503, headers: { ...closing, 'retry-after': '1' } },
  // The JSON of the request nests deeper than it may.
  deepJson: { code: 'LIMIT_EXCEEDED', status: 400 },
  // A parameter of the request is missing or malformed.
  badParameter: { code: 'BAD_USER_INPUT', status: 400 },
  // `AUTH=jwt`: the request has no token.
  noToken: { code: 'UNAUTHENTICATED', status: 401, headers: { 'www-authenticate': 'Bearer' } },
  // `AUTH=jwt`: the token is malformed, expired, or not valid for another reason. The reason is not disclosed.
  invalidToken: {
    code: 'UNAUTHENTICATED',
    status: 401,
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  },
  // `AUTH=jwt`: the tenant of the token has no entry in `UPSTREAM_KEYS`.
  unknownTenant: { code: 'FORBIDDEN', status: 403 },
  // `AUTH=jwt`: the token has none of the roles in the entry of its tenant.
  noRole: { code: 'FORBIDDEN', status: 403 },
  // `AUTH=jwt`: the entry of the tenant in `UPSTREAM_KEYS` has changed, which ends subscriptions.
  changedTenant: { code: 'FORBIDDEN', status: 403 },
  // `AUTH=jwt`: the keys of the identity provider are not available. `Retry-After` says when to try again.
  tokenUnverifiable: { code: 'AUTHENTICATION_UNAVAILABLE', status: 503 },
  // There is no document with the id that was sent.
  unknownDocument: { code: 'PERSISTED_DOCUMENT_NOT_FOUND', status: 404 },
  // The hash is not registered, so the client sends the hash and the document next. Clients recognise a miss by its
  // message. The status is 200 because Apollo iOS takes any other status for a failed transport.
  automaticMiss: { code: 'PERSISTED_QUERY_NOT_FOUND', status: 200, headers: uncached },
  // Automatic persisted queries are off: the client sends documents from now on.
  automaticOff: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', status: 200, headers: uncached },
  // The document does not match the hash that was sent with it.
  hashMismatch: { code: 'PERSISTED_QUERY_HASH_MISMATCH', status: 400 },
  // Only listed documents are run, and this one is not listed.
  unlistedDocument: { code: 'PERSISTED_DOCUMENT_REQUIRED', status: 403 },
  // `AUTH=jwt`: none of the token's roles allows the document.
  unallowedDocument: { code: 'FORBIDDEN', status: 403 },
  // The document has more bytes than it may.
  longDocument: { code: 'LIMIT_EXCEEDED', status: 400 },
  // The document is no GraphQL.
  unparsable: { code: 'GRAPHQL_PARSE_FAILED', status: 400, lenient: true },
  // The document exceeds a limit other than that of bytes.
  largeDocument: { code: 'LIMIT_EXCEEDED', status: 400, lenient: true },
  // The document does not fit the schema.
  invalidDocument: { code: 'GRAPHQL_VALIDATION_FAILED', status: 400, lenient: true },
  // The operation name does not say which operation of the document is meant.
  wrongOperationName: { code: 'BAD_USER_INPUT', status: 400, lenient: true },
  // A mutation came by GET. If that were allowed, a link or an image could change something.
  mutationByGet: { code: 'METHOD_NOT_ALLOWED', status: 405, headers: { allow: 'POST' } },
  // A subscription came from a client that does not accept a stream of messages.
  onlyStreamed: { code: 'BAD_USER_INPUT', status: 406 },
  // The arguments of a field have more bytes than they may.
  largeArguments: { code: 'LIMIT_EXCEEDED', status: 400 },
  // The operation may exceed a limit of calls, rows, answered objects or steps of planning.
  expensiveOperation: { code: 'COST_LIMIT_EXCEEDED', status: 400, lenient: true },
  // The limits of the caller's REST calls do not allow the first calls of the operation, or the polls of a
  // subscription, in time. `Retry-After` says when they will. Without that header, they never will.
  rateLimited: { code: 'RATE_LIMITED', status: 429 },
  // There is no room for more REST calls, or for more answers. The same request may succeed a moment later.
  overloaded: { code: 'OVERLOADED', status: 503, headers: { 'retry-after': '1' } },
} as const satisfies Readonly<Record<string, RefusalRule>>;

/** A way to refuse a request. */
export type RefusalKind = keyof typeof refusals;

const refusalCodes = Object.values(refusals).map(({ code }) => code);

/** Every code that an operation can be counted with: those of errors, `none`, and `CLIENT_LEFT`. */
export const answerCodes: readonly string[] = [
  ...new Set(['none', 'CLIENT_LEFT', ...upstreamErrorCodes, ...[...refusalCodes, 'INTERNAL_SERVER_ERROR'].toSorted()]),
];

interface RequestErrorOptions {
  /** Facts for clients beside the message. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** An error whose location in the document is reported. */
  readonly at?: GraphQLError;
  /** Headers of the answer, in addition to those of its kind of refusal. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error of the request itself: nothing was executed. */
export class RequestError extends GraphQLError {
  readonly kind: RefusalKind;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: RefusalKind, message: string, { details, at, headers }: RequestErrorOptions = {}) {
    const { code, headers: usual } = ruleOf(kind);
    const { nodes, source, positions, path } = at ?? {};
    super(message, { nodes, source, positions, path, extensions: { code, ...details } });
    this.kind = kind;
    this.headers = { ...usual, ...headers };
  }
}

/** The rule for one kind of refusal. */
export function ruleOf(kind: RefusalKind): RefusalRule {
  return refusals[kind];
}

/** The refusal of an operation for which there is no room. */
export function overload(): RequestError {
  return new RequestError('overloaded', new UpstreamError('OVERLOADED').message);
}

/** The refusal of a document, with an error for each reason. */
export class RefusedDocument extends Error {
  override readonly name = 'RefusedDocument';
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('the document is refused');
    this.errors = errors;
  }
}
