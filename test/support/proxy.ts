import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { listen } from './listen.ts';
import { clientNameOf } from './tls.ts';

/** A forward proxy on loopback that notes what goes through it. */
export interface TestProxy extends AsyncDisposable {
  readonly url: string;
  /** `CONNECT host:port` of tunnels, `METHOD URL` of plain requests, in order. */
  readonly requests: readonly string[];
  /** The `Proxy-Authorization` of each of them. */
  readonly authorizations: readonly (string | undefined)[];
  /** The common name of the certificate that the client of each TLS connection showed, `no certificate` without one. */
  readonly clients: readonly string[];
}

/** The behaviour of a proxy. */
export interface ProxyOptions {
  /** The status that it answers instead of doing what it is asked. */
  readonly refuseWith?: number;
  /** The number of tunnels that it opens; further ones it leaves waiting. */
  readonly tunnels?: number;
  /** Speaks HTTPS to its clients. */
  readonly tls?: ServerOptions;
}

/** Starts a proxy. */
export async function startProxy({ refuseWith, tunnels, tls }: ProxyOptions = {}): Promise<TestProxy> {
  const requests: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const clients: string[] = [];
  const sockets = new Set<Socket>();
  let opened = 0;
  const note = ({ method = '', url = '', headers }: IncomingMessage): void => {
    requests.push(`${method} ${url}`);
    authorizations.push(headers['proxy-authorization']);
  };
  const forward = (incoming: IncomingMessage, response: ServerResponse): void => {
    note(incoming);
    if (refuseWith !== undefined) return void response.writeHead(refuseWith).end();
    const { method = '', url = '', headers } = incoming;
    const onward = sendRequest(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  };
  const server = tls === undefined ? createServer(forward) : createTlsServer(tls, forward);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('secureConnection', (socket: TLSSocket) => clients.push(clientNameOf(socket)));
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    note(incoming);
    if (refuseWith !== undefined) return void socket.end(`HTTP/1.1 ${refuseWith} No\r\ncontent-length: 0\r\n\r\n`);
    opened += 1;
    if (opened > (tunnels ?? opened)) return;
    const [host = '', port = ''] = (incoming.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  const port = await listen(server);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    authorizations,
    clients,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
