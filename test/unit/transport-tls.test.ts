import { constants } from 'node:crypto';
import { createServer, connect as openTcp, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { expect, test } from 'vitest';
import { MemoryRoom } from '../../src/memory.ts';
import { explained, placeOf, reasonOf } from '../../src/rest/failure-reasons.ts';
import type { Route } from '../../src/rest/transport/connect.ts';
import type { HttpRequest } from '../../src/rest/transport/request-heads.ts';
import { Transport, type TransportError } from '../../src/rest/transport/transport.ts';
import { listen } from '../support/listen.ts';
import { authority, clientTls, serverTls } from '../support/tls.ts';
import { until } from '../support/until.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
const established = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** Starts a server whose connections end with it. */
async function startServer(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    ...{ port, sockets },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A TLS server that answers whatever it is asked; or what `act` does. */
function answering(options: TlsOptions = {}, act = (socket: TLSSocket) => void socket.write(ok)): Server {
  const server = createTlsServer({ ...serverTls, ...options }, (socket) => {
    socket.on('error', () => undefined).on('data', () => act(socket));
  });
  return server.on('tlsClientError', () => undefined);
}

function connectTo(origin: string, route: Route = {}) {
  const room = new MemoryRoom(2 ** 20);
  const options = { origin, route: { authorities: authority, ...route }, connections: 4, maxBodyBytes: 1000, room };
  const transport = new Transport(options);
  const send = (target: string, call: Partial<HttpRequest> = {}) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const failed = (error: TransportError): void =>
      resolve(explained(reasonOf(error) ?? 'OTHER', placeOf(error)).split(':', 1)[0] ?? '');
    const sent = transport.send(
      { method: 'GET', target, headers: {}, ...call },
      { responded: ({ status, body }) => resolve(`${status} ${body.toString()}`), failed },
    );
    return { ended: promise, abort: () => sent.abort() };
  };
  return {
    send,
    ask: (target: string, call?: Partial<HttpRequest>) => send(target, call).ended,
    [Symbol.dispose]: () => transport.close(),
  };
}

test('a request that is given up before its own connection is open leaves no connection behind', async () => {
  await using silent = await startServer(createServer((socket) => void socket.resume()));
  using client = connectTo(`https://127.0.0.1:${silent.port}`);
  const { ended, abort } = client.send('/1', { needsNewConnection: true });
  await until(() => silent.sockets.size === 1);
  abort();
  expect(await ended).toBe('OTHER');
  await until(() => silent.sockets.size === 0);
});

test('a session that the server cannot resume is not tried twice', async () => {
  const kept = new Set<string>();
  const options = { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;
  const server = answering(options)
    .on('newSession', (id: Buffer, _session: Buffer, done: () => void) => {
      kept.add(id.toString('hex'));
      done();
    })
    .on('resumeSession', (id: Buffer, done: (error: Error | null) => void) =>
      done(kept.has(id.toString('hex')) ? new Error('no store') : null),
    );
  await using upstream = await startServer(server);
  using client = connectTo(`https://127.0.0.1:${upstream.port}`);
  const answers = [];
  for (const target of ['/1', '/2', '/3']) answers.push(await client.ask(target, { needsNewConnection: true }));
  expect(answers).toEqual(['200 {}', 'CONNECTION_CLOSED', '200 {}']);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a client certificate is shown again on resumed sessions (%s)',
  async (version) => {
    const asking = { ca: authority, requestCert: true, rejectUnauthorized: true };
    await using upstream = await startServer(answering({ ...asking, minVersion: version, maxVersion: version }));
    using client = connectTo(`https://127.0.0.1:${upstream.port}`, { client: clientTls });
    for (const target of ['/1', '/2', '/3'])
      expect(await client.ask(target, { needsNewConnection: true })).toBe('200 {}');
  },
);

test('a response in many records of TLS is read once each', async () => {
  const server = answering({}, (socket) => {
    for (const byte of ok) socket.write(byte);
  });
  await using upstream = await startServer(server);
  using client = connectTo(`https://127.0.0.1:${upstream.port}`);
  const asked = Array.from({ length: 20 }, (_, index) => client.ask(`/${index}`));
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['200 {}']));
});

/** A proxy's answer to CONNECT, which may open the tunnel. */
type Reply = (socket: Socket, open: () => void) => Promise<void> | void;

const refused = 'PROXY_REFUSED of the proxy';

const replies: readonly (readonly [string, string, Reply])[] = [
  [
    'drips its head',
    '200 {}',
    async (socket, open) => {
      socket.pause();
      for (const byte of established) {
        socket.write(byte);
        await sleep(1);
      }
      open();
    },
  ],
  [
    'answers 201',
    '200 {}',
    (socket, open) => {
      socket.write('HTTP/1.1 201 Created\r\n\r\n');
      open();
    },
  ],
  [
    'tells a length, which a tunnel has not',
    '200 {}',
    (socket, open) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n');
      open();
    },
  ],
  ['sends bytes behind its head', refused, (socket) => void socket.write(`${established}220 mail`)],
  ['switches protocols', refused, (socket) => void socket.write('HTTP/1.1 101 Other\r\nUpgrade: a\r\n\r\n')],
  ['is no proxy', 'NOT_HTTP of the proxy', (socket) => void socket.write('SSH-2.0-OpenSSH_9.6\r\n')],
  ['ends within its head', 'CONNECTION_CLOSED of the proxy', (socket) => void socket.end('HTTP/1.1 200 OK\r\nA')],
  ['ends the tunnel that it opened', 'CONNECTION_CLOSED', (socket) => void socket.end(established)],
];

test.each(replies)('a proxy that %s makes "%s" of a call', async (_what, expected, reply) => {
  await using upstream = await startServer(answering());
  const server = createServer((socket) => {
    socket.once('data', () => {
      void reply(socket, () => {
        const onward = openTcp(upstream.port, '127.0.0.1');
        onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
        socket.on('close', () => onward.destroy());
        onward.pipe(socket).pipe(onward);
      });
    });
  });
  await using proxy = await startServer(server);
  using client = connectTo(`https://127.0.0.1:${upstream.port}`, { proxy: `http://127.0.0.1:${proxy.port}` });
  expect(await client.ask('/1')).toBe(expected);
  expect(await client.ask('/2', { needsNewConnection: true, method: 'POST', body: '{}' })).toBe(expected);
  if (expected !== '200 {}') await until(() => proxy.sockets.size === 0);
});
