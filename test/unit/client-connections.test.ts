import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { watchReader } from '../../src/http/slow-readers.ts';
import { ClientConnections, type ClientConnectionsOptions } from '../../src/server/client-connections.ts';
import { key, startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { pause } from '../support/load.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const request = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';

/** A server with its parsed, asked and refused requests, and a client that sends so many requests at once. */
async function serve(requests: number, options: Partial<ClientConnectionsOptions> = {}) {
  const parsed: ServerResponse[] = [];
  const refused: string[] = [];
  const asked: ServerResponse[] = [];
  const connections = new ClientConnections({
    most: 100,
    answer: (_request, response) => void asked.push(response),
    countRefused: (reason) => refused.push(reason),
    ...options,
  });
  const server = createServer();
  connections.attach(server);
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => parsed.push(response));
  const port = await listen(server);
  const client = connect(port, '127.0.0.1', () => client.write(request.repeat(requests)));
  client.on('error', () => undefined).resume();
  return {
    ...{ asked, refused, parsed, client, port, connections },
    [Symbol.dispose]: () => {
      client.destroy();
      server.close();
    },
  };
}

test('of the requests that a client sends ahead, each is worked on once the one before it is answered', async () => {
  using server = await serve(3);
  for (const at of [0, 1, 2]) {
    await expect.poll(() => server.asked.length).toBe(at + 1);
    expect(server.parsed).toHaveLength(3);
    server.asked[at]?.end();
  }
});

test('nothing that waits is worked on once its client has left', async () => {
  using server = await serve(3);
  await expect.poll(() => server.parsed).toHaveLength(3);
  const [first] = server.asked;
  server.client.destroy();
  await expect.poll(() => first?.closed).toBe(true);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(server.asked).toEqual([first]);
});

test('what has been read of a connection is not parsed any more once too many requests wait there', async () => {
  using server = await serve(1000);
  await once(server.client, 'close');
  expect([server.parsed.length, server.asked.length]).toEqual([65, 1]);
  expect(server.refused).toEqual(['pipelined']);
});

test.each([
  [
    'headers',
    `GET / HTTP/1.1\r\nhost: a\r\n${Array.from({ length: 90 }, (_, at) => `x-${at}: ${'x'.repeat(150)}\r\n`).join('')}\r\n`,
  ],
  ['URLs', `GET /?${'x'.repeat(15_000)} HTTP/1.1\r\nhost: a\r\n\r\n`],
  ['bodies', `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 15000\r\n\r\n${'x'.repeat(15_000)}`],
  [
    'chunked bodies',
    `POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3a98\r\n${'x'.repeat(15_000)}\r\n0\r\n\r\n`,
  ],
])(
  'requests with long %s that wait on many connections take little memory together, and one may always wait',
  async (_, large) => {
    using server = await serve(1);
    await expect.poll(() => server.parsed).toHaveLength(1);
    // Each takes 20 kB or more, so that a connection has at least 1.2 MB of them.
    const open = (requests: number) => {
      const client = connect(server.port, '127.0.0.1', () => client.write(request + large.repeat(requests)));
      onTestFinished(() => void client.destroy());
      return client.on('error', () => undefined).resume();
    };
    const clients = Array.from({ length: 40 }, () => open(60));
    await expect.poll(() => server.refused.length).toBeGreaterThan(0);
    await expect.poll(() => server.asked.length).toBe(41);
    expect(new Set(server.refused)).toEqual(new Set(['noRoomToWait']));
    const patient = open(1);
    await expect.poll(() => server.asked.length).toBe(42);
    await pause(100);
    expect(patient.destroyed).toBe(false);
    // Connections that are closed give their memory back.
    for (const client of clients) client.destroy();
    await expect.poll(() => server.connections.size).toBe(2);
    const { length } = server.refused;
    const last = open(60);
    await expect.poll(() => server.asked.length).toBe(43);
    await pause(100);
    expect([last.destroyed, server.refused.length]).toEqual([false, length]);
  },
);

/** Far more bytes than the system buffers for a client that does not read. */
const large = Buffer.alloc(2 ** 25);

test('a client that does not read gains no time by sending a request ahead', async () => {
  using server = await serve(1, {
    readers: { graceMs: 1_000_000, bytesPerSecond: 2 ** 30 },
    answer: (_request, response) => void response.end(large),
  });
  const { client, connections, parsed, refused } = server;
  client.pause();
  await expect.poll(() => parsed).toHaveLength(1);
  connections.closeSlowReaders(0);
  client.write(request);
  await expect.poll(() => parsed).toHaveLength(2);
  connections.closeSlowReaders(900_000);
  expect(parsed.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  connections.closeSlowReaders(1_500_000);
  expect(parsed[0]?.req.socket.destroyed).toBe(true);
  expect(refused).toEqual(['slowReader']);
});

test('a client that takes nothing of an answer is not spared by a request that waits behind it', async () => {
  let answered = 0;
  using server = await serve(2, {
    answer: (_request, response) => {
      watchReader(response);
      response.end(large);
      answered += 1;
    },
  });
  const { client, connections, parsed, refused } = server;
  client.pause();
  await expect.poll(() => parsed).toHaveLength(2);
  connections.closeSlowReaders(performance.now() + 10_000);
  expect(refused).toEqual([]);
  connections.closeSlowReaders(performance.now() + 16_000);
  expect([refused, answered]).toEqual([['slowReader'], 1]);
});

test('a stop answers all requests that a client had sent ahead', async () => {
  const held = Promise.withResolvers<void>();
  await using upstream = await startUpstream({
    'GET /api/projects/1/': async () => {
      await held.promise;
      return project(1);
    },
  });
  const gateway = await startGateway(upstream, {}, { drainMs: 5000 });
  const { hostname, port } = new URL(gateway.url);
  const client = connect(Number(port), hostname);
  let answers = '';
  client.setEncoding('utf8').on('data', (text: string) => (answers += text));
  const headers = `host: a\r\nauthorization: Bearer ${key}\r\n`;
  const first = `GET /graphql?query=%7Bproject(id:1)%7Bname%7D%7D HTTP/1.1\r\n${headers}\r\n`;
  client.write(first + `GET /healthz HTTP/1.1\r\n${headers}\r\n`.repeat(2));
  await expect.poll(() => upstream.requests.length).toBe(1);
  const stopped = gateway[Symbol.asyncDispose]();
  await new Promise((resolve) => void setTimeout(resolve, 50));
  held.resolve();
  await once(client, 'close');
  await stopped;
  expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
});
