import type { DocumentNode, GraphQLError } from 'graphql';
import { type DocumentMeasure, measureOf } from '../look-ahead/document-measure.ts';
import { requestError } from './request-error.ts';

/** The limits of a document. A fragment counts each time it is spread, because it is executed each time. */
export interface DocumentLimits {
  /** Bytes of its text as UTF-8. */
  readonly bytes: number;
  /** Bytes of the arguments of one field as JSON, variables included. */
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
 * The limits that are checked on the parsed document. Bytes and tokens are counted before that; arguments are checked
 * together with the variables.
 */
const measures = [
  'operations',
  'fragments',
  'rootFields',
  'depth',
  'introspectionDepth',
  'aliases',
  'directives',
] as const satisfies readonly (keyof DocumentLimits & keyof DocumentMeasure)[];

const names: Record<(typeof measures)[number], string> = {
  operations: 'operations',
  fragments: 'fragments',
  rootFields: 'root fields',
  depth: 'levels of nesting',
  introspectionDepth: 'levels of nesting in introspection',
  aliases: 'aliases',
  directives: 'directives',
};

/** An error for each limit that the document exceeds, with the limit and the document's value. */
export function limitErrors(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const measure = measureOf(document);
  return measures
    .filter((name) => measure[name] > limits[name])
    .map((name) => limitError(names[name], limits[name], measure[name]));
}

/** The error of a document that exceeds a limit. */
export function limitError(what: string, limit: number, found: number | string): GraphQLError {
  const message = `The document exceeds a limit: at most ${limit} ${what} are allowed, but it has ${found}.`;
  return requestError('largeDocument', message);
}
