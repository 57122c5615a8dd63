import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TraceContext } from '../rest/call-spans.ts';
import type { Caller } from '../rest/client.ts';

/** RFC 6750 §2.1: one scheme, one space, one `b64token`. */
const bearer = /^Bearer ([A-Za-z0-9\-._~+/]{1,4000}=*)$/i;

/** Header values by name; a header that was sent twice has two. */
export type HeaderValues = (name: string) => readonly string[];

/** The values of headers as they came, names and values in turn; `name` is in small letters. */
export function headerValues(raw: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [other = '', value = ''] = [raw[at], raw[at + 1]];
    // Nearly all names differ in length.
    if (other.length === name.length && other.toLowerCase() === name) values.push(value);
  }
  return values;
}

/** More callers than ask within a short time. */
const mostCallers = 1000;

/** Callers by their Authorization value, so that no key is hashed for each request. */
const callers = new LRUCache<string, Caller>({ max: mostCallers });

/** Who asks, from exactly one well-formed `Authorization: Bearer <key>`; undefined for anything else. */
export function callerOf(headers: HeaderValues): Caller | undefined {
  const [authorization, ...others] = headers('authorization');
  if (authorization === undefined || others.length > 0) return undefined;
  const known = callers.get(authorization);
  if (known !== undefined) return known;
  const key = bearer.exec(authorization)?.[1];
  if (key === undefined) return undefined;
  const caller: Caller = { key, hash: hash('sha256', `Bearer ${key}`, 'base64url') };
  callers.set(authorization, caller);
  return caller;
}

/** Neither version `ff` nor ids of zeros (W3C Trace Context §3.2). */
const wellFormed = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** The W3C trace context of a request, if it is well-formed; `tracestate` counts only beside `traceparent`. */
export function traceContextOf(headers: HeaderValues): TraceContext {
  const [traceparent, ...others] = headers('traceparent');
  if (traceparent === undefined || others.length > 0 || !wellFormed.test(traceparent)) return {};
  const tracestate = headers('tracestate').join(',');
  return /^[\x20-\x7e]{1,512}$/.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}
