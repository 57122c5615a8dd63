/** A failure that the caller is told as `{"type", "code", "detail", "attr"}`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** The request field at fault, nested ones joined by `__`. */
  readonly attr: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, detail: string, about: About = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.attr = about.attr ?? null;
    this.headers = about.headers ?? {};
  }

  /** The body of the answer. */
  toJSON(): object {
    return { type: typeOf(this.status), code: this.code, detail: this.message, attr: this.attr };
  }
}

interface About {
  readonly attr?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

function typeOf(status: number): string {
  if (status === 400) return 'validation_error';
  if (status === 401 || status === 403) return 'authentication_error';
  if (status === 429) return 'throttled_error';
  // 402 and 409 too, as the known deployment does.
  return status >= 500 || status === 402 || status === 409 ? 'server_error' : 'invalid_request';
}

/** No key was sent, or not as `Bearer`. */
export function notAuthenticated(): ApiError {
  return new ApiError(401, 'not_authenticated', 'Authentication credentials were not provided.', challenge);
}

/** The key is unknown. */
export function authenticationFailed(): ApiError {
  return new ApiError(
    401,
    'authentication_failed',
    'Personal API key found in request Authorization header is invalid.',
    challenge,
  );
}

const challenge: About = { headers: { 'www-authenticate': 'Bearer' } };

/** The key's user may not do what was asked. */
export function permissionDenied(detail: string): ApiError {
  return new ApiError(403, 'permission_denied', detail);
}

/** The object does not exist, or the key's user may not know that it does. */
export function notFound(): ApiError {
  return new ApiError(404, 'not_found', 'Not found.');
}

/** No operation has this method and path. */
export function endpointNotFound(): ApiError {
  return new ApiError(404, 'not_found', 'Endpoint not found.');
}

/** A field of the request holds what it may not. */
export function invalid(attr: string | undefined, detail: string, code = 'invalid_input'): ApiError {
  return new ApiError(400, code, detail, { attr });
}

/** A field of the request holds none of the values that it may have. */
export function invalidChoice(attr: string, value: unknown): ApiError {
  return invalid(attr, `"${String(value)}" is not a valid choice.`, 'invalid_choice');
}

/** Finding the answer took longer than a request may take. */
export function queryTooLong(): ApiError {
  return new ApiError(512, 'error', 'Query execution took too long. Ask for less at once.');
}

/** A field of the request is missing. */
export function required(attr: string): ApiError {
  return invalid(attr, 'This field is required.', 'required');
}

/** A field of the request names an object that does not exist. */
export function doesNotExist(attr: string, id: unknown): ApiError {
  return invalid(attr, `Invalid pk "${String(id)}" - object does not exist.`, 'does_not_exist');
}
