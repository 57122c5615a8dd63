import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { identifyingHeaders } from './caller.ts';

/** The id that a client or a proxy gave a request, if it has a safe form; otherwise a new one. */
export function requestIdOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string {
  return requestIdFrom(identifyingHeaders(rawHeaders).requestId);
}

/** The id of a request, from the header `x-request-id` alone. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && /^[\w.:-]{1,100}$/.test(header) ? header : randomUUID();
}
