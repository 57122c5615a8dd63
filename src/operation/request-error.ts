import { GraphQLError } from 'graphql';
import { UpstreamError } from '../rest/errors.ts';
import { type Refusal, type RefusalKind, refusals } from './error-codes.ts';

interface RequestErrorOptions {
  /** Facts for clients beside the message. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** An error with the location in the document. */
  readonly at?: GraphQLError;
  /** Headers of the answer, in addition to those of its kind of refusal. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error of the request itself: nothing was executed. `extensions.http` never reaches the client. */
export function requestError(
  kind: RefusalKind,
  message: string,
  { details, at, headers: others }: RequestErrorOptions = {},
): GraphQLError {
  const { code, status, lenient, headers: usual }: Refusal = refusals[kind];
  const headers = usual === undefined && others === undefined ? undefined : { ...usual, ...others };
  const http: HttpExtension = { kind, status, spec: lenient === true, ...(headers !== undefined && { headers }) };
  const { nodes, source, positions, path } = at ?? {};
  return new GraphQLError(message, { nodes, source, positions, path, extensions: { code, ...details, http } });
}

/** The refusal of an operation for which there is no room. */
export function overload(): GraphQLError {
  return requestError('overloaded', new UpstreamError('OVERLOADED').message);
}

/** The HTTP side of an error, in `extensions.http` as Yoga has it. */
export interface HttpExtension {
  readonly status?: number;
  readonly kind?: RefusalKind;
  /** Yoga's name for `lenient` (see `Refusal`). */
  readonly spec?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The part of an error that is meant for the HTTP response; undefined if it has none. */
export function httpExtensionOf({ extensions }: GraphQLError): HttpExtension | undefined {
  const http = extensions['http'];
  return typeof http === 'object' ? http : undefined;
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
