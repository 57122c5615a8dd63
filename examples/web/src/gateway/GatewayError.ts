/** Something that an operation was asked for and did not give. `code` is one of the gateway's error codes. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: string;
  /** After how many seconds another try may do; undefined if the answer does not say. */
  readonly retryAfter: number | undefined;

  constructor(code: string, message: string, { retryAfter, cause }: { retryAfter?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** True if no answer of the gateway came: a read that is tried again does no harm, and gets one once the gateway is back. */
export function isAway(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'GATEWAY_UNAVAILABLE';
}

/** True if something failed because the user is not signed in, or not any more. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'UNAUTHENTICATED';
}

/** No answer came, or that of a proxy, in its own words. */
export function noAnswer(cause: unknown): GatewayError {
  return new GatewayError('GATEWAY_UNAVAILABLE', 'The gateway does not answer.', { cause });
}

/** A stream has ended that should have gone on. */
export function connectionLost(cause?: unknown): GatewayError {
  return new GatewayError('CONNECTION_LOST', 'The connection was lost.', { cause });
}

/** An error as a GraphQL server answers it: https://graphql.github.io/graphql-over-http/ */
export interface AnswerError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly upstream?: { readonly retryAfter?: number } };
}

/** The first of some errors; undefined if there are none. `headers` are those that came with them. */
export function firstFailure(
  [error]: readonly AnswerError[] = [],
  headers: Headers = new Headers(),
): GatewayError | undefined {
  if (error === undefined) return undefined;
  const retryAfter = error.extensions?.upstream?.retryAfter ?? Number(headers.get('retry-after') ?? 0);
  const code = error.extensions?.code ?? 'UNKNOWN';
  return new GatewayError(code, error.message, retryAfter > 0 ? { retryAfter } : {});
}
