import { hash } from 'node:crypto';
import type { Caller, TraceContext } from '../rest/client.ts';

/** RFC 6750 §2.1: one scheme, one space, one `b64token`. */
const bearer = /^Bearer ([A-Za-z0-9\-._~+/]{1,4000}=*)$/i;

/** Header values by name; a header that was sent twice has two. */
export type HeaderValues = (name: string) => readonly string[];

/** Who asks, from exactly one well-formed `Authorization: Bearer <key>`; undefined for anything else. */
export function callerOf(headers: HeaderValues): Caller | undefined {
  const values = headers('authorization');
  const key = values.length === 1 ? bearer.exec(values[0] ?? '')?.[1] : undefined;
  return key === undefined ? undefined : { key, hash: hash('sha256', `Bearer ${key}`, 'base64url') };
}

/** The W3C trace context of a request, if it is well-formed; `tracestate` counts only beside `traceparent`. */
export function traceContextOf(headers: HeaderValues): TraceContext {
  const [traceparent] = headers('traceparent');
  if (traceparent === undefined || !/^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent)) return {};
  const tracestate = headers('tracestate').join(',');
  return /^[\x20-\x7e]{1,512}$/.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}
