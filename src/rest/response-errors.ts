import { certificateWanted, noRoomForBodies, type Rejection, UpstreamError, type UpstreamErrorCode } from './errors.ts';
import { requestColumns } from './generated/views.ts';
import type { ResponseHeaders } from './transport/response-parser.ts';
import { TransportError } from './transport/transport.ts';
import { isObject, type JsonObject, jsonIn } from './values.ts';

/** The error of a response that is no success. `text` is the decoded body; empty if there is none. */
export function toUpstreamError(status: number, headers: ResponseHeaders, text: string, key: string): UpstreamError {
  const json = text.length > longestError ? undefined : jsonIn(text);
  const body = isObject(json) ? json : {};
  const given = word(body['code'], /^[\w.-]{1,64}$/);
  const code = safe(given, key);
  const attr = safe(word(body['attr'], /^[\w.[\]-]{1,200}$/), key);
  const detail = status < 500 ? detailOf(body, key) : undefined;
  const retryAfter = retryAfterSeconds(headers['retry-after'], headers.date);
  const isCut = /json/i.test(headers['content-type'] ?? '') && !text.trimStart().startsWith('<');
  const mayBeApi = text === '' || json !== undefined || isCut;
  const isOwn = isApiError(body);
  const isApi = statementStatuses.has(status) ? isOwn : mayBeApi;
  const errorCode = isOwn && given !== undefined && ofTheKey.has(given) ? 'UNAUTHENTICATED' : codeOf(status, isApi);
  const errors = errorCode === 'BAD_USER_INPUT' || errorCode === 'CONFLICT' ? rejectionsIn(json, key) : [];
  const details = { status, code, attr, detail, retryAfter, errors: errors.length > 0 ? errors : undefined };
  return new UpstreamError(errorCode, details, wantsCertificate(status, text) ? certificateWanted : undefined);
}

/** True for nginx's error page about a client certificate, which nginx sends after the TLS handshake. */
function wantsCertificate(status: number, text: string): boolean {
  return status === 400 && /<title>400 [^<]*SSL certificate/i.test(text);
}

/** The error of a failed call, as resolvers may see it. */
export function toDomainError(error: unknown): unknown {
  if (!(error instanceof TransportError)) return error;
  if (error.fault === 'no-room') return noRoomForBodies;
  return new UpstreamError(
    error.fault === 'invalid' ? 'UPSTREAM_INVALID_RESPONSE' : 'UPSTREAM_UNAVAILABLE',
    undefined,
    error,
  );
}

/** The longest wait that is believed, in seconds. */
const maximumRetryAfter = 3600;

/**
 * The seconds of a `Retry-After` header, which may be an HTTP date (RFC 9110 §10.2.3). A date is on the clock of the
 * sender, which the `Date` header shows.
 */
function retryAfterSeconds(header: string | undefined, date = ''): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const sentAt = timeOf(date);
  const from = Number.isNaN(sentAt) ? Date.now() : sentAt;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Math.ceil(Number(text)) : Math.ceil((timeOf(text) - from) / 1000);
  if (!Number.isFinite(seconds)) return undefined;
  return Math.min(Math.max(seconds, 0), maximumRetryAfter);
}

/** The time of an HTTP date; NaN for any other text. `Date.parse` alone takes `in 5 minutes` for a day in May 2001. */
function timeOf(text: string): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}

/**
 * Statuses that say something about the key, its limits, or the existence of an object. They count only with an error
 * in the API's own JSON, because a proxy, or another server at the API's address, answers with the same statuses.
 */
const statementStatuses: ReadonlySet<number> = new Set([401, 402, 403, 404, 410, 429, 451]);

/** The form of `type` in errors of the API, such as `validation_error`. In Problem Details (RFC 9457) it is a URI. */
const typeWord = /^[a-z]+(?:_[a-z]+)*$/;

/**
 * True for an error of the API: `{"type", "code", "detail", "attr"}`, where only `attr` may be missing. API gateways
 * write others: `{"error"}`, `{"message"}`, `{"detail"}`, or Problem Details.
 */
function isApiError({ type, code, detail }: JsonObject): boolean {
  return typeof type === 'string' && typeWord.test(type) && typeof code === 'string' && typeof detail === 'string';
}

/** Codes by which the API says that it does not know the key, with 403 as well as 401. */
const ofTheKey: ReadonlySet<string> = new Set(['not_authenticated', 'authentication_failed']);

/** The code of an error response. Only the API can blame the client: a proxy's page says nothing about the input. */
function codeOf(status: number, isApi: boolean): UpstreamErrorCode {
  if (status >= 500) return 'UPSTREAM_UNAVAILABLE';
  if (status < 400) return 'UPSTREAM_INVALID_RESPONSE';
  if (status === 408) return 'UPSTREAM_TIMEOUT';
  if (isApi) return clientCodes[status] ?? 'BAD_USER_INPUT';
  // A 429 that is not from the API tells of a proxy's limit, not of the limit of the key. The code
  // `UPSTREAM_UNAVAILABLE` allows a read to be repeated.
  return status === 429 ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_INVALID_RESPONSE';
}

const clientCodes: Readonly<Record<number, UpstreamErrorCode>> = {
  401: 'UNAUTHENTICATED',
  402: 'FORBIDDEN',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  410: 'NOT_FOUND',
  412: 'CONFLICT',
  423: 'CONFLICT',
  429: 'RATE_LIMITED',
  451: 'FORBIDDEN',
};

/**
 * The longest error of the API, in characters. Longer texts are something else, and may take much memory once parsed.
 */
const longestError = 2 ** 16;

/** The maximum number of rejections that are passed on. */
const maximumRejections = 20;
/** The longest message of a rejection that is passed on, in characters. */
const maximumMessage = 200;
/** The maximum number of levels of objects and lists around a rejection. */
const maximumNesting = 7;

/** Keys in errors of Django REST framework that are about the object around them, not about a field. */
const ownWords: ReadonlySet<string> = new Set(['non_field_errors', 'detail', 'errors', '__all__']);

/**
 * The fields of request bodies. An error usually has a list of messages for a field. A text for one of these fields is
 * a message, too. A text in any other member may be anything.
 */
const requestColumnNames: ReadonlySet<string> = new Set([
  ...Object.values(requestColumns).flat(),
  'tile',
  'toDashboard',
  'template',
]);

/** Members that describe the error itself. At the top level of an error, they are not fields of the input. */
const errorWords: ReadonlySet<string> = new Set(['type', 'code', 'attr', 'status']);

/**
 * The validation errors in a JSON body: `{"name": ["…"]}`, nested and in lists, and `{"detail": "…", "attr": "a__b"}`.
 * Texts that may hold a secret are left out.
 */
function rejectionsIn(body: unknown, key: string): readonly Rejection[] {
  const found: Rejection[] = [];
  const isSafe = (text: string): boolean =>
    safe(text, key) !== undefined && !secretive.some((shape) => shape.test(text));
  const add = (path: readonly string[], message: string): void => {
    const isFit = message !== '' && message.length <= maximumMessage && isSafe(message) && path.every(isName);
    if (!isFit || found.length === maximumRejections) return;
    // A name may be a secret, too.
    found.push({ field: path.length > 0 && path.every(isSafe) ? path.join('.') : null, message });
  };
  const visit = (value: unknown, path: readonly string[], isListed: boolean, nesting: number): void => {
    if (nesting > maximumNesting || found.length === maximumRejections) return;
    if (typeof value === 'string') {
      if (isListed || requestColumnNames.has(path[0] ?? '')) add(path, value);
    } else if (Array.isArray(value)) visitItems(value, path, nesting + 1);
    else if (isObject(value) && isMessage(value)) add(path, value['message']);
    else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (path.length > 0 || !errorWords.has(name))
          visit(member, ownWords.has(name) ? path : [...path, name], false, nesting + 1);
      }
    }
  };
  const visitItems = (items: readonly unknown[], path: readonly string[], nesting: number): void => {
    for (const [index, item] of items.entries()) {
      const isItem = isObject(item) && !isMessage(item);
      visit(item, isItem ? [...path, String(index)] : path, true, nesting);
    }
  };
  if (isObject(body) && typeof body['attr'] === 'string' && typeof body['detail'] === 'string') {
    add(body['attr'].split('__'), body['detail']);
  } else visit(body, [], false, 0);
  return found;
}

/** True for a message with its code, as in the full details of Django REST framework. */
function isMessage(value: unknown): value is { readonly message: string } {
  return isObject(value) && typeof value['message'] === 'string' && typeof value['code'] === 'string';
}

/** True for the name of a member, or an index. */
function isName(text: string): boolean {
  return /^(?:[a-z$][\w$]{0,63}|\d{1,4})$/i.test(text);
}

/** Secrets of no known shape: a long word of letters and digits, or a word behind the name of a secret. */
const likeSecrets: readonly RegExp[] = [
  /(?<![\w-])(?![\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\w-]))(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{24,}/i,
  /\b(?:sk|pk|key|token|secret|password|passwd)[_=:]\s*\S/i,
];

/** Texts that may hold a secret or a host, or that are not for people. */
const secretive: readonly RegExp[] = [...likeSecrets, /\b(?:[a-z][\w-]*\.){2,}[a-z]{2,}\b/i, /\p{Cc}/u];

function word(value: unknown, shape: RegExp): string | undefined {
  return typeof value === 'string' && shape.test(value) ? value : undefined;
}

function detailOf(body: JsonObject, key: string): string | undefined {
  const detail = body['detail'] ?? body['error'];
  if (typeof detail !== 'string' || detail === '' || detail.length > 500) return undefined;
  return likeSecrets.some((shape) => shape.test(detail)) ? undefined : safe(detail, key);
}

/** The text; undefined if something in it looks like markup, an address, a stack or a key. */
function safe(text: string | undefined, key: string): string | undefined {
  const isUnsafe = (one: string): boolean => [...unsafeTexts, ...secretShapes].some((unsafe) => unsafe.test(one));
  return text === undefined || text.includes(key) || isUnsafe(text) ? undefined : text;
}

/** Secrets in the shapes that their issuers give them. */
const secretShapes: readonly RegExp[] = [
  // PostHog.
  /(?<![a-z\d])ph[a-z]_[a-z\d]/i,
  // AWS, Google, GitHub, GitLab, npm, Slack, Stripe, SendGrid, and providers of language models.
  /(?:A3T[A-Z\d]|ABIA|ACCA|AKIA|ASIA)[A-Z\d]{8}/,
  /AIza[\w-]{10}/,
  /(?:gh[oprsu]_|github_pat_|glpat-|npm_)[a-z\d]{6}/i,
  /xox[a-z]-[\w-]/i,
  /(?:[prs]k_(?:live|test)|whsec)_[a-z\d]/i,
  /\bSG\.[\w-]{10}/,
  /(?<![a-z\d])sk-[\w-]{8}/i,
  // Tokens, and credentials in headers, addresses and files.
  /eyJ[\w-]{6,}(?:\.|$|\s)/,
  /bearer/i,
  /(?<![a-z])[Bb]asic\s+(?=[a-z+/]*[A-Z\d])[A-Za-z\d+/]{8}/,
  /[^\s:@]+:[^\s:@]+@[^\s@]/,
  /PRIVATE KEY/,
];

const unsafeTexts: readonly RegExp[] = [
  // Markup.
  /<[a-z!/]/i,
  // URLs, IPv4 and IPv6 addresses, internal names, and names with a port; the minutes of a date-time are no port.
  /\/\//,
  /\b\d{1,3}(?:\.\d{1,3}){3}\b/,
  /::[0-9a-f]|[0-9a-f]::|(?:\b[0-9a-f]{1,4}:){5}/i,
  /\b(?:localhost|[\w-]+\.(?:internal|local|svc|lan))\b/i,
  /\b(?![\d-]+T)[\w-]*[a-z][\w-]*:\d{2,5}\b/i,
  // Stack traces.
  /\bat \S+(?: ?\(|:\d)|Traceback|File "/i,
];
