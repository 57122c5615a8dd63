import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Gateway } from './gateway.ts';

/** Where the server listens, and how long it waits for answers in flight when it stops, in milliseconds. */
export interface ServerOptions {
  readonly port: number;
  readonly host: string;
  readonly drainMs: number;
}

/** A listening server. */
export interface GatewayServer {
  /** Such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Refuses new work, answers what is in flight, then closes. */
  readonly stop: () => Promise<void>;
}

/** Serves a gateway over HTTP: `/graphql`, `/healthz` (alive) and `/readyz` (not stopping). */
export async function startServer(gateway: Gateway, { port, host, drainMs }: ServerOptions): Promise<GatewayServer> {
  let draining = false;
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    if (draining) response.setHeader('connection', 'close');
    if (path === '/graphql') gateway.handle(request, response);
    else if (path === '/healthz') sendJson(response, 200, { status: 'alive' });
    else if (path === '/readyz') sendJson(response, draining ? 503 : 200, { status: draining ? 'stopping' : 'ready' });
    else refuseUnknownPath(request, response);
  });
  await listen(server, port, host);
  return {
    url: urlOf(server, host),
    stop: async () => {
      draining = true;
      await closeGracefully(server, drainMs);
      await gateway.close();
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Waits for requests in flight; what is not answered after `drainMs` is cut off. */
function closeGracefully(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

function refuseUnknownPath(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/') {
    response.writeHead(302, { location: '/graphql' }).end();
    return;
  }
  sendJson(response, 404, { errors: [{ message: 'There is nothing here: the endpoint is /graphql.' }] });
}
