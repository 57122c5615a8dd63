import type { DocumentNode, GraphQLError } from 'graphql';
import { type DocumentMeasure, measureOf } from '../look-ahead/document-measure.ts';
import { requestError } from './request-error.ts';

/** The most that a document may hold. Fragments count as often as they are spread: that is what is executed. */
export interface DocumentLimits {
  /** Of its text, as UTF-8. */
  readonly bytes: number;
  /** Of the arguments of one field, variables included, as JSON. */
  readonly argumentBytes: number;
  readonly tokens: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  /** Nesting of fields, without introspection. */
  readonly depth: number;
  /** Nesting of fields below `__schema` and `__type`: the query of GraphiQL itself needs 15. */
  readonly introspectionDepth: number;
  readonly fragments: number;
  readonly operations: number;
}

/** Limits of what a document is measured by; bytes and tokens are counted before, arguments with the variables. */
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

/** An error for each limit that the document exceeds, naming the limit and what was found. */
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
