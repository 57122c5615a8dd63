import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../log.ts';
import { reuseHeader } from './request-context.ts';
import { answerHeaders } from './response.ts';

/**
 * Allows pages of the listed origins to call the endpoint (Fetch standard, CORS protocol). Without a list, pages of
 * other origins cannot call it: the gateway never reflects an origin. Answers preflights, and returns true for them.
 */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Settings of CORS. */
export interface CorsOptions {
  /** Origins such as `https://app.example.com`. */
  readonly origins: readonly string[];
  /** Names of request headers that pages may send beside the usual ones. */
  readonly headers: readonly string[];
  /** The `Vary` header of preflights. */
  readonly vary: string;
  readonly log: Log;
}

/** Request headers of the gateway, of GraphQL clients and of tracing tools, which pages may send. */
const usualHeaders = [
  // Browsers ask for permission if the value has a quotation mark, such as `subscriptionSpec="1.0"`, or more than 128
  // bytes.
  'accept',
  'authorization',
  reuseHeader,
  'content-type',
  'x-request-id',
  // Client awareness, the operation headers of Apollo's mobile clients, and Apollo's guard against requests without a
  // preflight.
  'apollographql-client-name',
  'apollographql-client-version',
  'x-client-name',
  'x-client-version',
  'apollo-require-preflight',
  'x-apollo-operation-id',
  'x-apollo-operation-name',
  'x-apollo-operation-type',
  // W3C trace context and baggage, and Sentry.
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
];

/** Response headers that scripts of other origins may read, if an answer has them. */
const exposedHeaders = 'retry-after, x-request-id, ratelimit-policy, ratelimit, www-authenticate';

/** The time for which a browser may remember a preflight, in seconds. */
const maxAge = '600';

/** The largest number of refused origins that are logged, because clients can invent any number of origins. */
const mostLogged = 100;

/** The most characters of an origin that are logged. */
const longestLogged = 200;

/** Makes the function that answers preflights and allows the listed origins. */
export function createCors({ origins, headers, vary, log }: CorsOptions): Cors {
  const listed = new Set(origins);
  const allowedHeaders = [...new Set([...usualHeaders, ...headers])].join(', ');
  const logRefusal = createRefusalLog(log);
  return (request, response) => {
    const { origin } = request.headers;
    const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (origin !== undefined && listed.has(origin)) allow(response, origin, isPreflight ? allowedHeaders : undefined);
    else if (isPreflight) logRefusal(origin);
    if (isPreflight) response.writeHead(204, { ...answerHeaders, vary }).end();
    return isPreflight;
  };
}

/**
 * Adds the headers that allow an origin. `preflightHeaders` lists the request headers that its pages may send;
 * undefined if the request is no preflight.
 */
function allow(response: ServerResponse, origin: string, preflightHeaders: string | undefined): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', exposedHeaders);
  if (preflightHeaders === undefined) return;
  response.setHeader('access-control-allow-methods', 'GET, POST');
  response.setHeader('access-control-allow-headers', preflightHeaders);
  response.setHeader('access-control-max-age', maxAge);
}

/**
 * Makes a function that logs each refused origin once. Call it only for preflights. Other requests do not show whether
 * their page is of another origin, because same-origin requests may also have an `Origin` header.
 */
function createRefusalLog(log: Log): (origin: string | undefined) => void {
  const logged = new Set<string>();
  return (origin = 'none') => {
    const shown = origin.slice(0, longestLogged);
    if (logged.size >= mostLogged || logged.has(shown)) return;
    logged.add(shown);
    log('warn', 'a page of another origin was refused; CORS_ORIGINS lists those that may call', { origin: shown });
  };
}
