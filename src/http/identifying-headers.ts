import { hash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ClientName } from '../operation/operation-run.ts';
import { RecentMap } from '../recent-map.ts';
import type { Caller } from '../rest/caller.ts';
import type { TraceContext } from '../rest/rest-run.ts';

/** The headers of a request that identify its caller, the request itself and its trace. */
export interface IdentifyingHeaders {
  /** Undefined unless there is exactly one. */
  readonly authorization: string | undefined;
  readonly authorizations: number;
  readonly requestId: string | undefined;
  /** Undefined unless there is exactly one. */
  readonly traceparent: string | undefined;
  /** All `tracestate` headers, joined by commas; empty without one. */
  readonly tracestate: string;
}

/** Reads these headers in one pass over the raw headers, because node's object of headers drops duplicates. */
export function identifyingHeaders(raw: readonly string[]): IdentifyingHeaders {
  let authorization: string | undefined;
  let requestId: string | undefined;
  let traceparent: string | undefined;
  let tracestate = '';
  let authorizations = 0;
  let traceparents = 0;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    // Nearly all other names of headers are shorter or longer.
    if (name.length < 10 || name.length > 13) continue;
    const value = raw[at + 1] ?? '';
    switch (name.toLowerCase()) {
      case 'authorization':
        authorization = value;
        authorizations += 1;
        break;
      case 'x-request-id':
        requestId ??= value;
        break;
      case 'traceparent':
        traceparent = value;
        traceparents += 1;
        break;
      case 'tracestate':
        tracestate = tracestate === '' ? value : `${tracestate},${value}`;
    }
  }
  return {
    authorization: authorizations > 1 ? undefined : authorization,
    authorizations,
    requestId,
    traceparent: traceparents > 1 ? undefined : traceparent,
    tracestate,
  };
}

/** The id that a client or a proxy gave a request, if it has a safe form; otherwise a new one. */
export function requestIdOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string {
  return requestIdFrom(identifyingHeaders(rawHeaders).requestId);
}

/** The id of a request, from the header `x-request-id` alone. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && /^[\w.:-]{1,100}$/.test(header) ? header : randomUUID();
}

/** The name and version that a client reports, in the headers of Apollo's client awareness or in plain ones. */
export function clientNameOf(headers: IncomingHttpHeaders): ClientName {
  return {
    name: trimmedText(headers['apollographql-client-name'] ?? headers['x-client-name']),
    version: trimmedText(headers['apollographql-client-version'] ?? headers['x-client-version']),
  };
}

function trimmedText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** RFC 6750 §2.1: one scheme, one space, one `b64token`. */
const bearer = /^Bearer ([A-Za-z0-9\-._~+/]{1,4000}=*)$/i;

/**
 * The maximum number of callers that are remembered. Few processes get requests of more callers within a short time.
 */
const mostCallers = 1000;

/** Callers by their `Authorization` value, so that a key is not hashed for each request. */
const callers = new RecentMap<string, Caller>({ entries: mostCallers });

/** The caller, from exactly one well-formed `Authorization: Bearer <key>`; undefined for anything else. */
export function callerOf({ authorization }: Pick<IdentifyingHeaders, 'authorization'>): Caller | undefined {
  if (authorization === undefined) return undefined;
  const known = callers.get(authorization);
  if (known !== undefined) return known;
  const key = bearer.exec(authorization)?.[1];
  if (key === undefined) return undefined;
  const sharingKey = hash('sha256', key, 'base64url');
  const caller: Caller = { key, sharingKey, queueKey: sharingKey };
  callers.set(authorization, caller);
  return caller;
}

/** A valid `traceparent`: version `ff` and ids of zeros are excluded (W3C Trace Context §3.2). */
const wellFormed = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

const untraced: TraceContext = {};

/** The W3C trace context of a request if it is well-formed. `tracestate` counts only together with `traceparent`. */
export function traceContextOf({
  traceparent,
  tracestate,
}: Pick<IdentifyingHeaders, 'traceparent' | 'tracestate'>): TraceContext {
  if (traceparent === undefined || !wellFormed.test(traceparent)) return untraced;
  return /^[\x20-\x7e]{1,512}$/.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}
