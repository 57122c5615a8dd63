import { GraphQLError, type SourceLocation } from 'graphql';
import { inputPathOf, UserInputError } from '../graphql/input-error.ts';
import { ForbiddenError } from '../graphql/reach-refusals.ts';
import { UpstreamError, type UpstreamErrorDetails } from '../rest/errors.ts';
import { RequestError } from './request-error.ts';

/** An error as a client sees it. `extensions.code` is always present. */
export interface PublicError {
  readonly message: string;
  readonly locations: readonly SourceLocation[] | undefined;
  readonly path: readonly (string | number)[] | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** The refusal from which the answer takes its status and headers. Clients do not see it. */
  readonly refusal: RequestError | undefined;
}

/** The most characters of a message. Longer messages only repeat input: graphql quotes invalid values whole. */
const maximumMessage = 500;

/**
 * Converts an error to the form that clients may see. Domain errors keep their fixed messages. Any other error is
 * passed to `report` and becomes an `INTERNAL_SERVER_ERROR` without details.
 */
export function toPublicError(error: unknown, report: (error: unknown) => void): PublicError {
  const located = error instanceof GraphQLError ? error : undefined;
  const cause = causeOf(error);
  if (cause instanceof UpstreamError) {
    const upstream = cause.upstream === undefined ? {} : { upstream: toPublicDetails(cause.upstream) };
    return publicError(located, cause.message, { code: cause.code, ...upstream });
  }
  if (cause instanceof UserInputError || cause instanceof ForbiddenError)
    return publicError(located, shownMessage(located, cause), { code: cause.code });
  // An error about the request itself, found before any field was executed.
  if (located !== undefined && located.path === undefined) return requestErrorOf(located);
  if (located !== undefined && isBadArgument(cause)) return publicError(located, located.message, badInput);
  if (isBadValue(cause)) return publicError(located, badValue.message, { code: badValue.code });
  report(cause);
  return publicError(located, 'Something went wrong inside the gateway.', { code: 'INTERNAL_SERVER_ERROR' });
}

function toPublicDetails({ errors, ...details }: UpstreamErrorDetails): UpstreamErrorDetails {
  if (errors === undefined) return details;
  const named = errors.map(({ field, message }) => ({ field: field === null ? null : inputPathOf(field), message }));
  return { ...details, errors: named };
}

/** The most errors that an answer has, and the reporter of unexpected ones. */
export interface ErrorReporting {
  readonly maxErrors: number;
  readonly report: (error: unknown) => void;
}

/** The most characters in the paths of all errors. Beyond it, errors are left out: an alias may be very long. */
const maximumPaths = 131_072;

/**
 * Converts the errors of an answer to the form that clients may see: the first ones, and the number of all others. A
 * small request could otherwise get an answer of megabytes, if every row of a list fails or an alias is long. `before`
 * is the errors in earlier parts of the answer, which count towards the same limits.
 */
export function toPublicErrors(
  errors: readonly unknown[],
  { maxErrors, report }: ErrorReporting,
  before: readonly PublicError[] = [],
): readonly PublicError[] {
  const reported: PublicError[] = [];
  let paths = before.reduce((sum, error) => sum + charactersOf(error), 0);
  for (const error of errors) {
    if (before.length + reported.length >= maxErrors || paths > maximumPaths) break;
    const shown = toPublicError(error, report);
    paths += charactersOf(shown);
    reported.push(shown);
  }
  const omitted = errors.length - reported.length;
  if (omitted === 0) return reported;
  const message = `The answer has ${errors.length} errors, but at most ${reported.length} are told: ${omitted} are left out.`;
  return [...reported, publicError(undefined, message, { code: 'LIMIT_EXCEEDED' })];
}

/** The characters of the path of an error. */
function charactersOf({ path = [] }: PublicError): number {
  return path.reduce((sum: number, step) => sum + (typeof step === 'string' ? step.length : 1), 0);
}

const badInput = { code: 'BAD_USER_INPUT' };

/**
 * True if a variable was null for an argument that must not be null: the only error of arguments that graphql finds
 * during the execution, and not before.
 */
function isBadArgument(error: unknown): boolean {
  return error instanceof GraphQLError && error.message.startsWith('Argument "');
}

const badValue = new UpstreamError('UPSTREAM_INVALID_RESPONSE');

/** The innermost error. Executors wrap the errors that resolvers throw, and wrap them several times within lists. */
export function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError) {
    // `originalError` is the name in graphql-jit.
    const inner: unknown = cause.cause ?? Reflect.get(cause, 'originalError');
    if (inner === undefined || inner === null) break;
    cause = inner;
  }
  return cause;
}

/** The public form of a request error. An error without a code means that the variables do not fit. */
function requestErrorOf(error: GraphQLError): PublicError {
  const shown = publicError(error, error.message, { code: 'BAD_USER_INPUT', ...error.extensions });
  return error instanceof RequestError ? { ...shown, refusal: error } : shown;
}

/**
 * True if a leaf type, list or non-null field refused a value of the upstream. Clients must not see the error, because
 * its message quotes the value.
 */
function isBadValue(error: unknown): boolean {
  if (error instanceof GraphQLError) return true;
  return error instanceof Error && error.message.startsWith('Cannot return null for non-nullable field');
}

/** The message of an error. Before execution it is graphql's own, which also names the variable or argument. */
function shownMessage(located: GraphQLError | undefined, cause: Error): string {
  return located !== undefined && located.path === undefined ? located.message : cause.message;
}

/** Matches graphql's quotation of an integer beyond 2^53. `parseJson` keeps the digits of such an integer. */
const quotedDigits = /\{ rawJSON: "(-?\d+)" \}/g;

function publicError(
  located: GraphQLError | undefined,
  text: string,
  extensions: Readonly<Record<string, unknown>>,
): PublicError {
  const message = text.replace(quotedDigits, '$1');
  const short = message.length > maximumMessage ? `${message.slice(0, maximumMessage)}…` : message;
  return { message: short, locations: located?.locations, path: located?.path, extensions, refusal: undefined };
}
