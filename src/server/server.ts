import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Gateway } from '../gateway.ts';
import type { Handle } from '../http/handle.ts';
import type { ReaderLimits } from '../http/slow-readers.ts';
import type { Log } from '../log.ts';
import { ClientConnections, closeAfter } from './client-connections.ts';
import { createMetricsEndpoint, createRoute, pathOf } from './endpoints.ts';
import { GracefulStop, type StopTimes } from './graceful-stop.ts';

// An import of `node:http` would read all of its exports. One of them, WebSocket, makes Node load an undici of its own.
const { createServer } = process.getBuiltinModule('node:http');

/** Settings of the server: its address, its limits, and its stop. */
export interface ServerOptions extends StopTimes {
  readonly port: number;
  readonly host: string;
  /** True if metrics are compressed for clients that ask for it. */
  readonly compression: boolean;
  /** True if `/metrics` is answered on this port too. */
  readonly metrics: boolean;
  /** The maximum number of connections of clients; by default 10,000. */
  readonly maxConnections?: number;
  /** The least speed at which clients have to read; by default 128 KiB a second, after half a minute of grace. */
  readonly readers?: ReaderLimits;
  readonly log: Log;
}

/** A listening server. */
export interface GatewayServer {
  /** The URL of the server, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Reports that the server is not ready, waits, refuses new connections, finishes answers in flight, then closes. */
  readonly stop: () => Promise<void>;
}

/**
 * The limits of node's HTTP server, which refuse slow and oversized requests before the gateway sees them. Sizes in
 * bytes, times in milliseconds.
 */
const httpLimits = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 65_000,
  noDelay: true,
} as const;

/**
 * The maximum number of connections of clients. Each takes some kilobytes and a file descriptor. Connections to the
 * upstream need file descriptors, too.
 */
const mostConnections = 10_000;

/** The maximum number of connections to the port of metrics, if metrics have one. */
const mostScrapers = 100;

/** Scrapers and operators are near and send little, so their requests have to arrive sooner than those of clients. */
const scraperLimits = { ...httpLimits, headersTimeout: 5000, requestTimeout: 5000 } as const;

/** Serves a gateway over HTTP. */
export async function startServer(gateway: Gateway, options: ServerOptions): Promise<GatewayServer> {
  const { metrics, maxConnections: most = mostConnections, readers } = options;
  const { countRefused } = gateway.metrics;
  const server = createServer(httpLimits);
  const answer = createRoute({
    gateway,
    metrics: metrics ? createMetricsEndpoint(gateway.metrics, options) : undefined,
    isStopping: () => stop.hasBegun,
  });
  const connections = new ClientConnections({ most, readers, countRefused, answer });
  const stop = new GracefulStop(server, connections, { ...options, disconnectStreams: gateway.disconnectStreams });
  // `Connection: close` is set when a request arrives, not when it is answered. Otherwise, if several requests of a
  // connection wait when the stop begins, the first answer would close the connection instead of the last one.
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (stop.hasBegun) closeAfter(response);
  });
  connections.attach(server);
  await listen(server, options.port, options.host);
  return {
    url: urlOf(server, options.host),
    stop: async () => {
      await stop.run();
      gateway.close();
    },
  };
}

/** Settings of the server for metrics, if they have a port of their own. */
export interface MetricsServerOptions extends Pick<ServerOptions, 'port' | 'host' | 'compression' | 'log'> {
  readonly admin?: Handle | undefined;
}

/**
 * Serves `/metrics`, and the endpoints of operators if `admin` is given, on a separate port. Resolves to a function
 * that closes it.
 */
export async function startMetricsServer(
  metrics: Gateway['metrics'],
  options: MetricsServerOptions,
): Promise<() => void> {
  const { port, host, admin } = options;
  const endpoint = createMetricsEndpoint(metrics, options);
  const server = createServer(scraperLimits);
  const connections = new ClientConnections({
    most: mostScrapers,
    countRefused: metrics.countRefused,
    answer: (request, response) => {
      const path = pathOf(request);
      if (path === '/metrics') endpoint(request, response);
      else if (path.startsWith('/admin/') && admin !== undefined) admin(request, response);
      else response.writeHead(404).end();
    },
  });
  connections.attach(server);
  await listen(server, port, host);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

/**
 * The maximum number of connections that wait to be accepted. The operating system drops further ones, and their
 * clients try again after seconds.
 */
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
