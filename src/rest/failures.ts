import type { IncomingHttpHeaders } from 'node:http';
import { UpstreamError, type UpstreamErrorCode, type UpstreamFacts } from './errors.ts';
import type { TransportError } from './transport.ts';
import { isObject, type JsonObject } from './values.ts';

/** The longest wait that is believed, in seconds; what is told beyond it is taken for a mistake of the upstream's. */
const maximumRetryAfter = 3600;

/** The error of a response whose status is not a success. `text` is its decoded body, empty where it has none. */
export function toUpstreamError(
  status: number,
  headers: IncomingHttpHeaders,
  text: string,
  key: string,
): UpstreamError {
  const body = bodyOf(text);
  const told = word(body['code'], /^[\w.-]{1,64}$/);
  const code = safe(told, key);
  const attr = safe(word(body['attr'], /^[\w.[\]-]{1,200}$/), key);
  const detail = status < 500 ? detailOf(body, key) : undefined;
  const retryAfter = retryAfterSeconds(headers['retry-after']);
  const facts: UpstreamFacts = {
    status,
    ...(code !== undefined && { code }),
    ...(attr !== undefined && { attr }),
    ...(detail !== undefined && { detail }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
  return new UpstreamError(codeOf(status, told), facts);
}

/** The error of a request that got no response. */
export function fromTransport(error: TransportError): UpstreamError {
  return new UpstreamError(
    error.fault === 'invalid' ? 'UPSTREAM_INVALID_RESPONSE' : 'UPSTREAM_UNAVAILABLE',
    undefined,
    error,
  );
}

/** Seconds to wait from a `Retry-After` header (seconds or an HTTP date, RFC 9110 §10.2.3), at most an hour. */
export function retryAfterSeconds(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Math.ceil(Number(text)) : Math.ceil((timeOf(text) - now) / 1000);
  if (!Number.isFinite(seconds)) return undefined;
  return Math.min(Math.max(seconds, 0), maximumRetryAfter);
}

/** `Date.parse` alone takes `in 5 minutes` for a day in May 2001, so the text has to begin like an HTTP date. */
function timeOf(text: string): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}

function codeOf(status: number, code: string | undefined): UpstreamErrorCode {
  // Seen with 403 as well as 401.
  if (code === 'not_authenticated' || code === 'authentication_failed') return 'UNAUTHENTICATED';
  if (status >= 500) return 'UPSTREAM_UNAVAILABLE';
  if (status < 400) return 'UPSTREAM_INVALID_RESPONSE';
  return clientCodes[status] ?? 'BAD_USER_INPUT';
}

const clientCodes: Readonly<Record<number, UpstreamErrorCode>> = {
  401: 'UNAUTHENTICATED',
  402: 'FORBIDDEN',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'UPSTREAM_TIMEOUT',
  409: 'CONFLICT',
  410: 'NOT_FOUND',
  412: 'CONFLICT',
  423: 'CONFLICT',
  429: 'RATE_LIMITED',
  451: 'FORBIDDEN',
};

function bodyOf(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : {};
  } catch {
    return {};
  }
}

function word(value: unknown, shape: RegExp): string | undefined {
  return typeof value === 'string' && shape.test(value) ? value : undefined;
}

/** The upstream's sentence for people. */
function detailOf(body: JsonObject, key: string): string | undefined {
  const detail = body['detail'] ?? body['error'];
  return typeof detail === 'string' && detail !== '' && detail.length <= 500 ? safe(detail, key) : undefined;
}

/** A text, unless something in it looks like markup, an address, a stack or a key. */
function safe(text: string | undefined, key: string): string | undefined {
  return text === undefined || text.includes(key) || unsafeTexts.some((unsafe) => unsafe.test(text)) ? undefined : text;
}

const unsafeTexts: readonly RegExp[] = [
  // Markup.
  /<[a-z!/]/i,
  // URLs, IPv4 and IPv6 addresses, internal names, and names with a port; the minutes of a date-time are no port.
  /\/\//,
  /\b\d{1,3}(?:\.\d{1,3}){3}\b/,
  /::[0-9a-f]|[0-9a-f]::|(?:\b[0-9a-f]{1,4}:){5}/i,
  /\b(?:localhost|[\w-]+\.(?:internal|local|svc|lan))\b/i,
  /\b(?![\d-]+T)[\w-]*[a-z][\w-]*:\d{2,5}\b/i,
  // Keys.
  /\bph[xc]_|bearer/i,
  // Stacks.
  /\bat \S+(?: ?\(|:\d)|Traceback|File "/i,
];
