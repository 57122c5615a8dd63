import type { Surface } from './rest-operations.ts';

/** The upstream's complaint about a request body. `field` is the REST name of the field; null if it names none. */
export interface Rejection {
  readonly field: string | null;
  readonly message: string;
}

/** The members of an upstream's error that may reach a client (`extensions.upstream`). `retryAfter` is in seconds. */
export interface UpstreamErrorDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly attr?: string | undefined;
  readonly detail?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly errors?: readonly Rejection[] | undefined;
}

const messages = {
  UNAUTHENTICATED: 'The request needs a valid key: send the header `Authorization: Bearer <personal API key>`.',
  FORBIDDEN: 'The key is not allowed to do this.',
  NOT_FOUND: 'The upstream does not know this object.',
  METHOD_NOT_ALLOWED: 'The upstream does not offer this operation.',
  CONFLICT: 'The upstream refused the change because of a conflict.',
  BAD_USER_INPUT: 'The upstream rejected the input.',
  RATE_LIMITED: 'The key has used up its rate limit; try again later.',
  UPSTREAM_UNAVAILABLE: 'The upstream is not available.',
  UPSTREAM_TIMEOUT: 'The upstream did not answer in time.',
  UPSTREAM_INVALID_RESPONSE: 'The upstream sent an answer that does not fit its contract.',
  // Refused by the gateway itself, as is OVERLOADED.
  COST_LIMIT_EXCEEDED: 'The operation has made as many REST calls, or answered as much, as it may.',
  OVERLOADED: 'The gateway has too much to do at the moment; try again later.',
} as const;

/** The codes of failed REST calls, as the public contract names them (`extensions.code`). */
export type UpstreamErrorCode = keyof typeof messages;

/** All codes of failed REST calls. */
export const upstreamErrorCodes: readonly string[] = Object.keys(messages);

/** The error of a REST call. The message is one of the gateway's own, and holds no text of the upstream. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;
  readonly upstream: UpstreamErrorDetails | undefined;

  constructor(code: UpstreamErrorCode, upstream?: UpstreamErrorDetails, cause?: unknown) {
    super(messages[code], cause === undefined ? undefined : { cause });
    this.code = code;
    this.upstream = upstream;
  }
}

/** The reason of a refusal: an operation needs `calls` at once, and `surface` has fewer left. */
export interface Shortage {
  readonly surface: Surface;
  readonly calls: number;
  /** A window whose limit is smaller than `calls`; undefined if there is none. */
  readonly window: { readonly limit: number; readonly ms: number } | undefined;
}

/**
 * The error of a call that the gateway refuses, because its key has too few calls left, or too many calls wait. It ends
 * an operation that has sent no call.
 */
export class RefusedCall extends UpstreamError {
  readonly shortage: Shortage | undefined;

  /** `retryAfter` is in seconds; undefined if another try would fail, too. */
  constructor(code: 'RATE_LIMITED' | 'OVERLOADED', retryAfter: number | undefined, shortage?: Shortage) {
    super(code, retryAfter === undefined ? undefined : { retryAfter });
    this.shortage = shortage;
  }
}

/**
 * The `cause` of an error if a server in front of the upstream says in an HTTP response that it wants another client
 * certificate.
 */
export const certificateWanted = 'client certificate wanted';

/** The error of a body for which the process has no memory left. It ends the operations that wait for that body. */
export const noRoomForBodies = new UpstreamError('OVERLOADED', undefined, 'no room for bodies');

/** True if the upstream does not know the key. If the key only lacks a right, the code is FORBIDDEN. */
export function isUnauthenticated(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.code === 'UNAUTHENTICATED';
}

/** True if the operation has reached the limit of its calls, or of its answer. */
export function isCostLimit(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'COST_LIMIT_EXCEEDED';
}

/** True if the key has used up its calls, as the upstream or the gateway counts them. */
export function isRateLimited(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.code === 'RATE_LIMITED';
}

/** True if the key lacks the right to what was asked for. */
export function isForbidden(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'FORBIDDEN';
}

/** True if the upstream says that the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'NOT_FOUND';
}

/** The HTTP status of a failure, if there was an answer. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof UpstreamError ? error.upstream?.status : undefined;
}

/** Makes undefined of the error of an object that does not exist. Throws any other error. */
export function undefinedIfAbsent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** Makes an Error of a thrown value. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('not an Error was thrown', { cause: error });
}
