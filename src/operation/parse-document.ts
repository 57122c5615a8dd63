import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  type Token,
  validate,
} from 'graphql';
import { type DocumentLimits, limitError } from './document-limits.ts';
import { RefusedDocument, requestError } from './request-error.ts';

/**
 * The document that a text is, without the chain of tokens that graphql hangs on it: that holds every comment. Errors
 * still find their place. Throws a RefusedDocument if the text is no GraphQL, or beyond the limits.
 */
export function parseDocument(text: string, limits?: Pick<DocumentLimits, 'bytes' | 'tokens'>): DocumentNode {
  if (limits !== undefined) refuseLong(text, limits.bytes);
  try {
    const document = parse(text, { maxLexicalTokens: limits?.tokens });
    unchain(document.loc?.startToken);
    return document;
  } catch (error) {
    // The parser recurses, and overflows before it has read all tokens of what only nests.
    const tooMany = error instanceof RangeError || (error instanceof GraphQLError && error.message.includes('tokens'));
    if (tooMany && limits !== undefined) throw new RefusedDocument([limitError('tokens', limits.tokens, 'more')]);
    if (!(error instanceof GraphQLError)) throw error;
    throw new RefusedDocument([requestError('unparsable', error.message, { at: error })]);
  }
}

/** Counted before anything is parsed: the number of tokens says nothing about comments. */
function refuseLong(text: string, limit: number): void {
  // No text has fewer bytes than UTF-16 units, or more than three times as many.
  if (text.length * 3 <= limit) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return;
  const message = `The document exceeds a limit: at most ${limit} bytes are allowed, but it has ${bytes}.`;
  throw new RefusedDocument([requestError('longDocument', message)]);
}

function unchain(first: Token | undefined): void {
  let token: Token | null = first ?? null;
  while (token !== null) {
    const { next }: Token = token;
    Object.assign(token, { prev: null, next: null });
    token = next;
  }
}

/** The schema and settings that a document is validated against. */
export interface ValidationOptions {
  readonly schema: GraphQLSchema;
  /** True if clients may read the schema, and get suggestions from it if they misspell a name. */
  readonly introspection: boolean;
  /** Most errors that are looked for. */
  readonly maxErrors: number;
}

/** Why a document does not fit the schema; nothing if it does. */
export function validationErrors(
  document: DocumentNode,
  { schema, introspection, maxErrors }: ValidationOptions,
): readonly GraphQLError[] {
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  return validate(schema, document, rules, { hideSuggestions: !introspection, maxErrors }).map(toRequestError);
}

function toRequestError(error: GraphQLError): GraphQLError {
  switch (error.message) {
    // graphql stops comparing fields that share a response key when that takes too long, and says no more than that.
    case 'Validation aborted.':
      return requestError('largeDocument', largeDocument);
    // The schema always has queries and mutations. What graphql says leaves open whether another subscription is offered.
    case 'The subscription operation is not supported by the schema.':
      return requestError('invalidDocument', subscriptionsOff, { at: error });
    default:
      return requestError('invalidDocument', error.message, { at: error });
  }
}

const largeDocument = 'The document exceeds a limit: too many of its fields have the same name to be compared.';

const subscriptionsOff = 'Subscriptions are off here: the gateway offers them if its setting LIVE is on.';
