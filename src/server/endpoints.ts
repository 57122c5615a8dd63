import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../error-text.ts';
import type { Gateway } from '../gateway.ts';
import type { Handle } from '../http/handle.ts';
import { answerHeaders } from '../http/response.ts';
import { createSend } from '../http/send.ts';
import { type Log, LogThrottle } from '../log.ts';
import { refusals } from '../operation/request-error.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { refusalOfHead } from './request-head.ts';

interface Endpoints {
  readonly gateway: Gateway;
  /** Undefined if metrics have a port of their own. */
  readonly metrics: Handle | undefined;
  /** True if the server is stopping and takes requests only until every client has moved to another replica. */
  readonly isStopping: () => boolean;
}

/**
 * Makes the function that answers requests: `/graphql`, the other endpoints of the gateway, `/healthz` (alive),
 * `/readyz` (not stopping), and `/metrics` unless it has a port of its own.
 */
export function createRoute(endpoints: Endpoints): Handle {
  const { gateway, metrics } = endpoints;
  return (request, response) => {
    const refusal = refusalOfHead(request);
    if (refusal !== undefined) {
      gateway.metrics.countRefused(refusal.kind);
      const { status, code } = refusals[refusal.kind];
      response.setHeader('connection', 'close');
      return sendJson(response, status, { errors: [{ message: refusal.message, extensions: { code } }] });
    }
    const path = pathOf(request);
    if (path === '/graphql') return void gateway.handle(request, response);
    const handler = gateway.handlers.get(path);
    if (handler !== undefined) handler(request, response);
    else if (path === '/healthz') sendJson(response, 200, { status: 'alive' });
    else if (path === '/readyz') sendReadiness(endpoints, response);
    else if (path === '/metrics' && metrics !== undefined) metrics(request, response);
    else if (path === '/') response.writeHead(302, { location: '/graphql', ...answerHeaders }).end();
    else sendJson(response, 404, { errors: [{ message: 'There is nothing here: the endpoint is /graphql.' }] });
  };
}

/**
 * The path of a request. Changes `/graphql/` to `/graphql` in the request as well. Servers must also accept the whole
 * URL (RFC 9112 §3.2.2), which clients send to a proxy. Such a URL may have no path.
 */
export function pathOf(request: IncomingMessage): string {
  const { url = '' } = request;
  const origin = url.startsWith('/') ? undefined : /^https?:\/\/[^/?]*/i.exec(url)?.[0];
  const target = origin === undefined ? url : url.slice(origin.length).replace(/^(?!\/)/, '/');
  const end = target.indexOf('?');
  const path = end === -1 ? target : target.slice(0, end);
  if (path === '/graphql/') {
    request.url = `/graphql${target.slice(path.length)}`;
    return '/graphql';
  }
  if (origin !== undefined) request.url = target;
  return path;
}

/**
 * Answers `/readyz`. The state of the upstream is reported but does not decide: otherwise one slow upstream would take
 * every replica out of service.
 */
function sendReadiness({ gateway, isStopping }: Endpoints, response: ServerResponse): void {
  const { breakers, reachability } = gateway.resources;
  const { kind, ...reason } = reachability.state;
  const upstream = { breaker: breakers.isOpen ? 'open' : 'closed', state: kind, ...reason };
  const stopping = isStopping();
  sendJson(response, stopping ? 503 : 200, { status: stopping ? 'stopping' : 'ready', upstream });
}

/**
 * Sends a small JSON answer, unless the client has left. `end` stands behind the JSON, such as a line break for
 * terminals.
 */
export function sendJson(response: ServerResponse, status: number, body: object, end = ''): void {
  if (response.closed) return;
  const text = JSON.stringify(body) + end;
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...answerHeaders };
  response.writeHead(status, headers).end(text);
}

/**
 * Serves metrics. A scrape needs no key, so anyone can send many. Therefore, all scrapes in one turn of the event loop
 * get the same text, which takes milliseconds to make, and a failure is logged at most once a minute.
 */
export function createMetricsEndpoint(
  metrics: Pick<Metrics, 'contentType' | 'render'>,
  { compression, log }: { readonly compression: boolean; readonly log: Log },
): Handle {
  const send = createSend({ compression, vary: 'Accept-Encoding' });
  const throttle = new LogThrottle();
  let rendering: Promise<string> | undefined;
  return (request, response) => {
    rendering ??= metrics.render().finally(() => {
      setImmediate(() => {
        rendering = undefined;
      });
    });
    rendering.then(
      (body) => {
        const headers = { 'content-type': metrics.contentType, ...answerHeaders };
        send(request, response, { status: 200, headers, body });
      },
      (error: unknown) => {
        const reason = messageOf(error);
        if (throttle.mayLog(reason)) log('error', 'metrics cannot be read', { reason });
        response.writeHead(500, answerHeaders).end();
      },
    );
  };
}
