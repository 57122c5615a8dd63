import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { createGate, type GateOptions } from './gate.ts';
import { listen } from './listen.ts';
import { apiError } from './replies.ts';
import { type Handler, type Routes, route, toReply, toRequest } from './routes.ts';
import { type OpenRequest, type RecordedRequest, Traffic } from './traffic.ts';

/** A scripted REST API on loopback that records what it is asked. */
export interface Upstream extends AsyncDisposable {
  readonly url: string;
  /** `METHOD target` of each request, in order of arrival. */
  readonly requests: readonly string[];
  readonly records: readonly RecordedRequest[];
  /** Largest number of requests that were in flight at the same time. */
  readonly mostInFlight: number;
  /** True if two requests, given as `METHOD target`, were in flight at the same time. Throws for one never received. */
  overlapped(a: string, b: string): boolean;
  /** Length of the longest chain of requests in which each started after the one before it had ended. */
  waves(): number;
  /** Answers what is held back, and holds back nothing from now on. */
  release(): void;
  /** Forgets what was recorded. */
  reset(): void;
}

/** The options of an upstream. */
export interface UpstreamOptions extends GateOptions {
  /** Speaks HTTPS with this key and certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** The API's answer to requests without a key. */
const noKey = JSON.stringify(apiError('not_authenticated', 'No.', 'authentication_error'));

/**
 * Starts an upstream. Without options, requests are answered once no further one has come for 5 ms, so that those sent
 * together overlap; with `hold: n`, once n of them wait, or on `release()`. Disposing of it closes every connection and
 * throws what a handler threw. What a spawned gateway asks at its start is answered at once and not recorded.
 */
export async function startUpstream(routes: Routes | Handler, options: UpstreamOptions = {}): Promise<Upstream> {
  const handler = typeof routes === 'function' ? routes : route(routes);
  const traffic = new Traffic();
  const gate = createGate(options);
  const failures: unknown[] = [];
  const { tls } = options;
  const listener: RequestListener = (incoming, response) => {
    if (isStartCheck(incoming)) return void response.writeHead(401, { 'content-type': 'application/json' }).end(noKey);
    const record = traffic.start(incoming.method ?? '', incoming.url ?? '', incoming.headers);
    response.on('close', () => traffic.end(record, !response.writableEnded));
    answer(incoming, response, record).catch((error: unknown) => {
      // A client that left while it was still sending is no failure of a handler.
      if (!incoming.complete) return;
      failures.push(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);

  async function answer(incoming: IncomingMessage, response: ServerResponse, record: OpenRequest): Promise<void> {
    record.body = await text(incoming);
    await gate.pass();
    if (response.closed) return;
    const { write } = toReply(await handler(toRequest(record)));
    write(response);
    // Not on an event, which may come later than what the client sends because of this answer.
    if (response.writableEnded) traffic.end(record, false);
  }

  const port = await listen(server);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests: traffic.requests,
    records: traffic.records,
    get mostInFlight() {
      return traffic.mostInFlight;
    },
    overlapped: (a, b) => traffic.overlapped(a, b),
    waves: () => traffic.waves(),
    release: () => gate.release(),
    reset: () => traffic.reset(),
    async [Symbol.asyncDispose]() {
      gate.release();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (failures.length > 0) throw new AggregateError(failures, 'handlers of the fake upstream failed');
    },
  };
}

/** True if a gateway only checks that the API answers, as it does once at its start: without a key. */
function isStartCheck({ url, headers }: IncomingMessage): boolean {
  return headers.authorization === undefined && url?.endsWith('/api/projects/?limit=1') === true;
}
