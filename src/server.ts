import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from './gateway.ts';
import { answerHeaders } from './http/answer.ts';
import { createSend, type Send } from './http/send.ts';

/** Where the server listens, and how it stops. Times in milliseconds. */
export interface ServerOptions {
  readonly port: number;
  readonly host: string;
  /** How long it goes on taking requests after it has said that it is not ready. */
  readonly stopDelayMs: number;
  /** How long it waits after that for answers in flight. */
  readonly drainMs: number;
  /** Whether metrics are compressed for clients that ask for it; by default they are not. */
  readonly compression?: boolean;
}

/** A listening server. */
export interface GatewayServer {
  /** Such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Says that it is not ready, waits, refuses new connections, answers what is in flight, then closes. */
  readonly stop: () => Promise<void>;
}

/** Slow and oversized requests end here, before anything of the gateway sees them. Sizes in bytes. */
const httpLimits = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 65_000,
  noDelay: true,
} as const;

/** More header lines than any client or proxy sends. */
const maximumHeaders = 100;

/** Serves a gateway over HTTP: `/graphql`, `/healthz` (alive) and `/readyz` (not stopping). */
export async function startServer(gateway: Gateway, options: ServerOptions): Promise<GatewayServer> {
  let stopping = false;
  const send = createSend(options.compression ?? false);
  // By connection, and not a set of what is in flight: a set that turns over quickly keeps what it held alive for long.
  const latest = new Map<Socket, ServerResponse>();
  const server = createServer(httpLimits, (request, response) => {
    latest.set(request.socket, response);
    if (stopping) closeAfter(response);
    route(gateway, send, request, response, stopping);
  });
  server.on('connection', (socket) => socket.on('close', () => latest.delete(socket)));
  const refused = new WeakSet<Socket>();
  server.on('clientError', (error, socket: Socket) => {
    // Whatever follows what is malformed is an error again.
    if (!refused.has(socket)) refuseMalformed(error, socket, latest.get(socket));
    refused.add(socket);
  });
  await listen(server, options.port, options.host);
  return {
    url: urlOf(server, options.host),
    stop: async () => {
      stopping = true;
      for (const response of latest.values()) closeAfter(response);
      await delay(options.stopDelayMs);
      const cut = setTimeout(() => server.closeAllConnections(), options.drainMs);
      await close(server);
      clearTimeout(cut);
      await gateway.close();
    },
  };
}

/** The client has to come back on a new connection, which another replica takes. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function route(
  gateway: Gateway,
  send: Send,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: boolean,
): void {
  const url = originForm(request);
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (request.rawHeaders.length > maximumHeaders * 2) sendError(response, 431, 'The request has too many headers.');
  else if (path === '/graphql') gateway.handle(request, response);
  else if (path === '/healthz') sendJson(response, 200, { status: 'alive' });
  else if (path === '/readyz') sendReadiness(gateway, response, stopping);
  else if (path === '/metrics') sendMetrics(gateway, send, request, response);
  else if (path === '/') response.writeHead(302, { location: '/graphql', ...answerHeaders }).end();
  else sendError(response, 404, 'There is nothing here: the endpoint is /graphql.');
}

/** Path and query. Servers have to take the whole URL as well (RFC 9112 §3.2.2), as clients send it to a proxy. */
function originForm(request: IncomingMessage): string {
  const { url = '' } = request;
  const origin = url.startsWith('/') ? undefined : /^https?:\/\/[^/?]*/i.exec(url)?.[0];
  if (origin === undefined) return url;
  request.url = url.slice(origin.length);
  return request.url;
}

/** The upstream's state is told, but does not decide: one slow upstream would pull every replica out of service. */
function sendReadiness(gateway: Gateway, response: ServerResponse, stopping: boolean): void {
  const { state } = gateway.upstreamHealth();
  sendJson(response, stopping ? 503 : 200, { status: stopping ? 'stopping' : 'ready', upstream: { breaker: state } });
}

function sendMetrics({ metrics }: Gateway, send: Send, request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'content-type': metrics.contentType, vary: 'Accept-Encoding', ...answerHeaders };
  metrics.render().then(
    (body) => send(request, response, { status: 200, headers, body }),
    () => sendError(response, 500, 'The metrics cannot be read.'),
  );
}

/**
 * What is not HTTP, too large or too slow gets a bare answer and loses its connection. The answer of a whole request that
 * came before it goes first: a client would take a bare one for it, and a change that was made for refused.
 */
function refuseMalformed(error: Error & { code?: string }, socket: Socket, latest: ServerResponse | undefined): void {
  if (latest === undefined || latest.writableFinished) refuse(error, socket);
  else if (latest.req.complete) latest.once('finish', () => refuse(error, socket));
  else if (latest.headersSent) socket.destroy();
  else refuse(error, socket);
}

function refuse({ code }: Error & { code?: string }, socket: Socket): void {
  // An answer that closes the connection has ended it, and may be on its way still.
  if (!socket.writable) return;
  const slow = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const large = code === 'HPE_HEADER_OVERFLOW';
  const status = slow ? '408 Request Timeout' : large ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** Connections that wait to be accepted; beyond it the system drops them, and their clients try again after seconds. */
const backlog = 4096;

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog }, resolve);
  });
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', ...answerHeaders });
  response.end(JSON.stringify(body));
}

function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { errors: [{ message }] });
}
