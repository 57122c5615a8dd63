import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/settings/config.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { codesOf } from '../support/load.ts';
import { metricsOf } from '../support/metrics.ts';
import { authority, authorityPath, expiredTls, otherNameTls, serverTls } from '../support/tls.ts';

interface Settings {
  readonly UPSTREAM_URL?: string;
  readonly HTTPS_PROXY?: string;
  readonly [name: string]: string | undefined;
}

/** A server at the address of the upstream, and the gateway's way to it. */
interface Way {
  readonly name: string;
  /** The reason that the operator is told; the name server decides between two of them. */
  readonly reason: string | RegExp;
  readonly server?: () => Server;
  readonly scheme?: 'http' | 'https';
  readonly environment?: (port: number) => Settings;
  /** The place of the failure; the upstream by default. */
  readonly place?: 'proxy';
  /** The code that the client gets; UPSTREAM_UNAVAILABLE unless it is said. */
  readonly code?: string;
}

const { cert, key } = serverTls;
const trusted = { UPSTREAM_CA: authorityPath };
const answering: RequestListener = (_request, response) => void response.end('{}');
const tls = (options: ServerOptions) => (): Server => createTlsServer(options, answering);
const plain =
  (status: number, body = '', headers = {}): (() => Server) =>
  () =>
    createServer((_request, response) => void response.writeHead(status, headers).end(body));
const saying = (act: (socket: Socket) => void) => (): Server =>
  createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => act(socket));
  });
const client = { ...serverTls, ca: authority, requestCert: true, rejectUnauthorized: true } as const;
const proxyTo = (url: string) => (port: number) => ({
  UPSTREAM_URL: url,
  HTTP_PROXY: `http://user:pa55word@127.0.0.1:${port}`,
  HTTPS_PROXY: `http://user:pa55word@127.0.0.1:${port}`,
});

const ways: readonly Way[] = [
  { name: 'nothing listens', reason: 'ECONNREFUSED' },
  {
    name: 'its host does not exist',
    reason: /ENOTFOUND|EAI_AGAIN/,
    environment: () => ({ UPSTREAM_URL: 'http://no-such-host.invalid' }),
  },
  { name: 'its certificate has expired', reason: 'CERT_HAS_EXPIRED', scheme: 'https', server: tls(expiredTls) },
  {
    name: 'its certificate is for another name',
    reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
    scheme: 'https',
    server: tls(otherNameTls),
  },
  {
    name: 'its certificate is signed by an unknown authority',
    reason: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    scheme: 'https',
    server: tls(serverTls),
    environment: () => ({ UPSTREAM_CA: '' }),
  },
  {
    name: 'it wants a client certificate (TLS 1.2)',
    reason: 'CLIENT_CERTIFICATE_REFUSED',
    scheme: 'https',
    server: tls({ ...client, maxVersion: 'TLSv1.2' }),
  },
  {
    name: 'it wants a client certificate (TLS 1.3)',
    reason: /CLIENT_CERTIFICATE_REFUSED|CONNECTION_CLOSED|ECONNRESET/,
    scheme: 'https',
    server: tls(client),
  },
  {
    name: 'it speaks old TLS only',
    reason: 'TLS_VERSION',
    scheme: 'https',
    server: tls({ key, cert, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }),
  },
  { name: 'it speaks no TLS', reason: 'NOT_TLS', scheme: 'https', server: plain(200, '{}') },
  {
    name: 'it does not speak HTTP',
    reason: 'NOT_HTTP',
    server: saying((socket) => socket.end('SSH-2.0-OpenSSH\r\n')),
    code: 'UPSTREAM_INVALID_RESPONSE',
  },
  { name: 'it resets connections', reason: 'ECONNRESET', server: saying((socket) => socket.resetAndDestroy()) },
  { name: 'it closes connections', reason: 'CONNECTION_CLOSED', server: saying((socket) => socket.end()) },
  {
    name: 'it never answers',
    reason: 'TIMEOUT',
    server: saying(() => undefined),
    environment: () => ({ OPERATION_DEADLINE_MS: '500' }),
    code: 'UPSTREAM_TIMEOUT',
  },
  { name: 'a proxy before it answers 503', reason: 'SERVER_ERROR', server: plain(503, '<html>') },
  {
    name: 'it redirects',
    reason: 'REDIRECTED',
    server: plain(302, '', { location: 'https://elsewhere.example/' }),
    code: 'UPSTREAM_INVALID_RESPONSE',
  },
  {
    name: 'a web page answers instead of the API',
    reason: 'NOT_THE_API',
    server: plain(200, '<!doctype html><title>Welcome</title>', { 'content-type': 'text/html' }),
    code: 'UPSTREAM_INVALID_RESPONSE',
  },
  {
    name: 'the proxy on the way wants a password for a tunnel',
    reason: 'PROXY_AUTHENTICATION_REQUIRED',
    place: 'proxy',
    server: saying((socket) => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n')),
    environment: proxyTo('https://upstream.test'),
  },
  {
    name: 'the proxy on the way wants a password',
    reason: 'PROXY_AUTHENTICATION_REQUIRED',
    place: 'proxy',
    server: plain(407),
    environment: proxyTo('http://upstream.test'),
  },
  {
    name: 'the proxy on the way opens no tunnel',
    reason: 'PROXY_REFUSED',
    place: 'proxy',
    server: saying((socket) => socket.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n')),
    environment: proxyTo('https://upstream.test'),
  },
  {
    name: 'the proxy on the way finds no upstream',
    reason: 'PROXY_REFUSED',
    place: 'proxy',
    server: saying((socket) => socket.end('HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n')),
    environment: proxyTo('https://upstream.test'),
  },
  {
    name: 'the proxy on the way closes connections',
    reason: 'CONNECTION_CLOSED',
    place: 'proxy',
    server: saying((socket) => socket.end()),
    environment: proxyTo('https://upstream.test'),
  },
  {
    name: 'nothing listens where the proxy for tunnels should be',
    reason: 'ECONNREFUSED',
    place: 'proxy',
    environment: proxyTo('https://upstream.test'),
  },
  {
    name: 'nothing listens where the proxy should be',
    reason: 'ECONNREFUSED',
    place: 'proxy',
    environment: proxyTo('http://upstream.test'),
  },
  {
    name: 'the host of the proxy does not exist',
    reason: /ENOTFOUND|EAI_AGAIN/,
    place: 'proxy',
    environment: (port) => ({
      UPSTREAM_URL: 'https://upstream.test',
      HTTPS_PROXY: `http://user:pa55word@no-such-proxy.invalid:${port}`,
    }),
  },
  {
    name: 'the proxy speaks no TLS',
    reason: 'NOT_TLS',
    place: 'proxy',
    server: plain(200, '{}'),
    environment: (port) => ({
      UPSTREAM_URL: 'https://upstream.test',
      HTTPS_PROXY: `https://user:pa55word@127.0.0.1:${port}`,
    }),
  },
  {
    name: 'the certificate behind the tunnel of a proxy has expired',
    reason: 'CERT_HAS_EXPIRED',
    server: () => tunnelTo(tls(expiredTls)()),
    environment: proxyTo('https://upstream.test'),
  },
];

/** A proxy that opens each tunnel to one server. */
function tunnelTo(server: Server): Server {
  return createServer().on('connect', (_request, socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    server.emit('connection', socket);
  });
}

test.each(ways)(
  'where $name, the log, the metrics and /readyz say so, and the client learns the code only',
  async ({
    reason,
    place = 'upstream',
    server: create,
    scheme = 'http',
    environment,
    code = 'UPSTREAM_UNAVAILABLE',
  }) => {
    const server = create?.();
    const port = server === undefined ? await freePort() : await listen(server);
    const own = { UPSTREAM_URL: `${scheme}://127.0.0.1:${port}`, ...trusted, ...environment?.(port) };
    const { upstreamRoute, operationDeadlineMs } = readConfig(own);
    const lines: { readonly level: string; readonly message: string; readonly reason?: unknown }[] = [];
    await using gateway = await startGateway(
      { url: own.UPSTREAM_URL },
      {
        upstreamRoute,
        operationDeadlineMs,
        log: (level, message, facts) => lines.push({ level, message, ...facts }),
      },
    );
    const answer = await gateway.ask('{ project(id: 1) { name } }');
    expect(codesOf(answer)).toEqual([code]);
    const { host } = new URL(place === 'proxy' ? (own.HTTPS_PROXY ?? '') : own.UPSTREAM_URL);
    const warnings = lines.filter(({ level, message }) => level === 'warn' && message.endsWith('fails'));
    expect(warnings).toEqual([
      expect.objectContaining({
        message: place === 'proxy' ? 'proxy on the way to the upstream fails' : 'upstream fails',
        ...{ host, reason: expect.stringMatching(reason) as unknown },
        ...(place === 'proxy' && { upstream: new URL(own.UPSTREAM_URL).host }),
      }),
    ]);
    const told = String(warnings[0]?.reason);
    const metrics = await metricsOf(gateway);
    expect(metrics).toMatch(
      new RegExp(`^gateway_upstream_failures_total\\{reason="${told}",place="${place}"\\} [1-9]`, 'm'),
    );
    const readiness: unknown = await (await fetch(new URL('/readyz', gateway.url))).json();
    expect(readiness).toMatchObject({ status: 'ready', upstream: { state: 'failing', reason: told, place, host } });
    for (const text of [JSON.stringify(lines), metrics, answer.body]) expect(text).not.toMatch(/phx_|pa55word/);
    expect(answer.body).not.toMatch(new RegExp(`${port}|${host}|"${told}"`));
    server?.close();
  },
);
