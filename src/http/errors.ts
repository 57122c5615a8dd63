import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { UserInputError } from '../graphql/input-error.ts';
import { UpstreamError } from '../rest/errors.ts';
import { relocated } from './request-error.ts';

/** Longer messages only repeat input: graphql quotes invalid values whole. */
const maximumMessage = 500;

/**
 * What a client may see of an error, always with `extensions.code`. Domain errors keep their fixed messages; anything
 * unexpected is handed to `report` and becomes `INTERNAL_SERVER_ERROR` without a trace of what it was.
 */
export function toPublicError(error: unknown, report: (error: unknown) => void): GraphQLError {
  const located = error instanceof GraphQLError ? error : undefined;
  const cause = causeOf(error);
  if (cause instanceof UpstreamError) {
    const upstream = cause.upstream === undefined ? {} : { upstream: cause.upstream };
    return publicError(located, cause.message, { code: cause.code, ...upstream });
  }
  if (cause instanceof UserInputError) return publicError(located, messageOf(located, cause), { code: cause.code });
  if (located !== undefined && isRequestError(located)) return withCode(located);
  if (isBadValue(cause)) return publicError(located, new UpstreamError('UPSTREAM_INVALID_RESPONSE').message, invalid);
  report(cause);
  return publicError(located, 'Something went wrong inside the gateway.', { code: 'INTERNAL_SERVER_ERROR' });
}

const invalid: GraphQLErrorExtensions = { code: 'UPSTREAM_INVALID_RESPONSE' };

/** The innermost error: graphql wraps what resolvers throw, more than once where lists are in between. */
function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.cause !== undefined && cause.cause !== null) cause = cause.cause;
  return cause;
}

/** Errors about the request itself: found before any field was executed, or coded where they were made. */
function isRequestError(error: GraphQLError): boolean {
  return error.path === undefined || error.extensions['code'] !== undefined;
}

/** Errors without a code of their own are variables that do not fit: the caller's input. */
function withCode(error: GraphQLError): GraphQLError {
  return publicError(error, error.message, { code: 'BAD_USER_INPUT', ...error.extensions });
}

/** Leaf types, lists and non-null fields refuse what the upstream sent; their messages quote it. */
function isBadValue(error: unknown): boolean {
  if (error instanceof GraphQLError || error instanceof TypeError)
    return / cannot represent |^Expected Iterable/.test(error.message);
  return error instanceof Error && error.message.startsWith('Cannot return null for non-nullable field');
}

/** Around a scalar's own complaint graphql says which variable or argument it is about. */
function messageOf(located: GraphQLError | undefined, cause: Error): string {
  return located !== undefined && located.path === undefined ? located.message : cause.message;
}

function publicError(
  located: GraphQLError | undefined,
  message: string,
  extensions: GraphQLErrorExtensions,
): GraphQLError {
  const short = message.length > maximumMessage ? `${message.slice(0, maximumMessage)}…` : message;
  return located === undefined ? new GraphQLError(short, { extensions }) : relocated(located, short, extensions);
}
