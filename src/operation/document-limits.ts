import type { DocumentNode, GraphQLError } from 'graphql';
import { type DocumentMeasure, measureOf } from '../look-ahead/document-measure.ts';
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

/** Refuses a text with too many bytes before it is parsed. The limit of tokens does not cover comments. */
export function refuseLong(text: string, limit: number): void {
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
export function limitErrors(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const measure = measureOf(document);
  return measures
    .filter(([key]) => measure[key] > limits[key])
    .map(([key, name]) => limitError(name, limits[key], measure[key]));
}

/** An error that names a limit of the document, and what the document has. */
export function limitError(what: string, limit: number, found: number | string): GraphQLError {
  const message = `The document exceeds a limit: at most ${limit} ${what} are allowed, but it has ${found}.`;
  return new RequestError('largeDocument', message);
}
