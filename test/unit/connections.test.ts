import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from '../../src/server/connections.ts';
import { listen } from '../support/listen.ts';

const request = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';

/** A server whose requests wait in `asked` to be answered, and a client that has sent it some, all at once. */
async function serve(requests: number) {
  const asked: ServerResponse[] = [];
  let parsed = 0;
  const refused: string[] = [];
  const connections = new Connections({
    most: 10,
    answer: (_request, response) => void asked.push(response),
    refused: (reason) => refused.push(reason),
  });
  const server = createServer();
  connections.attach(server);
  server.on('request', () => (parsed += 1));
  const port = await listen(server);
  const client = connect(port, '127.0.0.1', () => client.write(request.repeat(requests)));
  client.on('error', () => undefined).resume();
  return {
    asked,
    refused,
    client,
    parsed: () => parsed,
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
    expect(server.parsed()).toBe(3);
    server.asked[at]?.end();
  }
});

test('nothing that waits is worked on once its client has left', async () => {
  using server = await serve(3);
  await expect.poll(() => server.parsed()).toBe(3);
  const [first] = server.asked;
  server.client.destroy();
  await expect.poll(() => first?.closed).toBe(true);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(server.asked).toEqual([first]);
});

test('what has been read of a connection is not parsed any more once too many requests wait there', async () => {
  using server = await serve(1000);
  await once(server.client, 'close');
  expect([server.parsed(), server.asked.length]).toEqual([65, 1]);
  expect(server.refused).toEqual(['pipelined']);
});

test('a client that does not read gains no time by sending a request ahead', async () => {
  // Far more than the system takes for a client that does not read.
  const refused: string[] = [];
  const connections = new Connections({
    most: 10,
    readers: { graceMs: 1_000_000, bytesPerSecond: 2 ** 30 },
    answer: (_request, response) => void response.end(Buffer.alloc(2 ** 25)),
    refused: (reason) => refused.push(reason),
  });
  const server = createServer();
  connections.attach(server);
  const port = await listen(server);
  const asked = (): Promise<unknown[]> => once(server, 'request');
  const requests: ServerResponse[] = [];
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => requests.push(response));
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  client.pause();
  const first = asked();
  client.write(request);
  await first;
  connections.closeSlowReaders(0);
  const second = asked();
  client.write(request);
  await second;
  connections.closeSlowReaders(900_000);
  expect(requests.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  connections.closeSlowReaders(1_500_000);
  expect(requests[0]?.req.socket.destroyed).toBe(true);
  expect(refused).toEqual(['slowReader']);
  client.destroy();
  server.close();
});
