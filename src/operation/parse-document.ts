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
import { type DocumentLimits, limitError, limitErrors, refuseLong } from './document-limits.ts';
import type { ExecuteOptions } from './execute.ts';
import { RefusedDocument, RequestError } from './request-error.ts';

/**
 * Parses a text. The document does not keep graphql's chain of tokens, which would hold every comment. Errors still
 * have their locations. Throws a RefusedDocument if the text is not GraphQL or exceeds the limits.
 */
export function parseDocument(text: string, limits?: DocumentLimits): DocumentNode {
  if (limits !== undefined) refuseLong(text, limits.bytes);
  const document = parsed(text, limits?.tokens);
  const exceeded = limits === undefined ? [] : limitErrors(document, limits);
  if (exceeded.length > 0) throw new RefusedDocument(exceeded);
  return document;
}

function parsed(text: string, maxTokens: number | undefined): DocumentNode {
  try {
    const document = parse(text, { maxLexicalTokens: maxTokens });
    unchain(document.loc?.startToken);
    return document;
  } catch (error) {
    // The parser recurses: a deeply nested document overflows the stack before all tokens are read.
    const tooMany = error instanceof RangeError || (error instanceof GraphQLError && error.message.includes('tokens'));
    if (tooMany && maxTokens !== undefined) throw new RefusedDocument([limitError('tokens', maxTokens, 'more')]);
    if (!(error instanceof GraphQLError)) throw error;
    throw new RefusedDocument([new RequestError('unparsable', error.message, { at: error })]);
  }
}

function unchain(first: Token | undefined): void {
  let token: Token | null = first ?? null;
  while (token !== null) {
    const { next }: Token = token;
    Object.assign(token, { prev: null, next: null });
    token = next;
  }
}

interface ValidationOptions extends Pick<ExecuteOptions, 'introspection'> {
  readonly schema: GraphQLSchema;
  readonly maxErrors: number;
}

/** The validation errors of a document. */
export function validationErrors(
  document: DocumentNode,
  { schema, introspection, maxErrors }: ValidationOptions,
): readonly GraphQLError[] {
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  return validate(schema, document, rules, { hideSuggestions: !introspection, maxErrors }).map(toRequestError);
}

function toRequestError(error: GraphQLError): GraphQLError {
  switch (error.message) {
    // graphql stopped comparing fields with the same response key, because that took too long.
    case 'Validation aborted.':
      return new RequestError('largeDocument', largeDocument);
    // graphql's own message would not say that subscriptions are off.
    case 'The subscription operation is not supported by the schema.':
      return new RequestError('invalidDocument', subscriptionsOff, { at: error });
    default:
      return new RequestError('invalidDocument', error.message, { at: error });
  }
}

const largeDocument = 'The document exceeds a limit: too many of its fields have the same name to be compared.';

const subscriptionsOff = 'Subscriptions are off here: the gateway offers them if its setting LIVE is on.';
