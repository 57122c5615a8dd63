import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerHeaders } from './answer.ts';

/**
 * Lets pages of the listed origins call the endpoint (Fetch standard, CORS protocol). Without a list no page of another
 * origin can: nothing is ever reflected. True: the request was a preflight and is answered.
 */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Headers that a page may send and read. */
const allowedHeaders = 'authorization, content-type, traceparent, tracestate, x-request-id';
const exposedHeaders = 'retry-after, x-request-id';

/** How long a browser may remember a preflight, in seconds. */
const maxAge = '600';

/** Makes the check for a list of origins such as `https://app.example.com`. */
export function createCors(origins: readonly string[]): Cors {
  const listed = new Set(origins);
  return (request, response) => {
    const { origin } = request.headers;
    const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (listed.size > 0) response.appendHeader('vary', 'Origin');
    if (origin !== undefined && listed.has(origin)) allow(response, origin, isPreflight);
    if (isPreflight) response.writeHead(204, answerHeaders).end();
    return isPreflight;
  };
}

function allow(response: ServerResponse, origin: string, isPreflight: boolean): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', exposedHeaders);
  if (!isPreflight) return;
  response.setHeader('access-control-allow-methods', 'GET, POST');
  response.setHeader('access-control-allow-headers', allowedHeaders);
  response.setHeader('access-control-max-age', maxAge);
}
