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
import { type DocumentMeasure, measureOf } from '../look-ahead/document-measure.ts';
import type { ExecuteOptions } from './execute.ts';
import { RefusedDocument, RequestError } from './request-error.ts';

/** The limits of a document. A fragment counts each time it is spread, because it is executed each time. */
export interface DocumentLimits {
  readonly bytes: number;
  /** The number of bytes of the arguments of one field as JSON, including the values of variables. */
  readonly argumentBytes: number;
  readonly tokens: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  /** Nesting of fields, without introspection. */
  readonly depth: number;
  /** Nesting of fields below `__schema` and `__type`. The query of GraphiQL itself needs 15. */
  readonly introspectionDepth: number;
  readonly fragments: number;
  readonly operations: number;
}

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

/** Refuses a text with too many bytes before it is parsed. The limit of tokens does not cover comments. */
function refuseLong(text: string, limit: number): void {
  // UTF-8 takes one to three bytes for each UTF-16 unit.
  if (text.length * 3 <= limit) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return;
  const message = `The document exceeds a limit: at most ${limit} bytes are allowed, but it has ${bytes}.`;
  throw new RefusedDocument([new RequestError('longDocument', message)]);
}

/** The limits that are checked on the parsed document. Arguments are checked later, together with the variables. */
const measures = [
  ['operations', 'operations'],
  ['fragments', 'fragments'],
  ['rootFields', 'root fields'],
  ['depth', 'levels of nesting'],
  ['introspectionDepth', 'levels of nesting in introspection'],
  ['aliases', 'aliases'],
  ['directives', 'directives'],
] as const satisfies readonly (readonly [keyof DocumentLimits & keyof DocumentMeasure, string])[];

/** An error for each limit that the document exceeds, with the limit and the document's value. */
function limitErrors(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const measure = measureOf(document);
  return measures
    .filter(([key]) => measure[key] > limits[key])
    .map(([key, name]) => limitError(name, limits[key], measure[key]));
}

/** An error that names a limit of the document, and what the document has. */
function limitError(what: string, limit: number, found: number | string): GraphQLError {
  const message = `The document exceeds a limit: at most ${limit} ${what} are allowed, but it has ${found}.`;
  return new RequestError('largeDocument', message);
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
