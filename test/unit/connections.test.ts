import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from '../../src/server/connections.ts';
import { listen } from '../support/listen.ts';

const request = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';

test('a client that does not read gains no time by sending a request ahead', async () => {
  const connections = new Connections({ graceMs: 1000, bytesPerSecond: 2 ** 30 });
  const server = createServer();
  server.on('connection', (socket) => connections.add(socket));
  const port = await listen(server);
  const asked = (): Promise<unknown[]> => once(server, 'request');
  const requests: ServerResponse[] = [];
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    connections.take(incoming, response);
    requests.push(response);
    // Far more than the system takes for a client that does not read.
    response.end(Buffer.alloc(2 ** 25));
  });
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  client.pause();
  const first = asked();
  client.write(request);
  await first;
  connections.closeSlowReaders(0);
  const second = asked();
  client.write(request);
  await second;
  connections.closeSlowReaders(900);
  expect(requests.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  connections.closeSlowReaders(1500);
  expect(requests[0]?.req.socket.destroyed).toBe(true);
  client.destroy();
  server.close();
});
