import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';

/** An upstream that closes each connection when a second request comes on it, as one that reloads does, unanswered. */
async function startClosing(): Promise<{ url: string; served: string[]; lost: string[] } & AsyncDisposable> {
  const served: string[] = [];
  const lost: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let requests = 0;
    socket.on('data', (chunk) => {
      const [line = ''] = chunk.toString().split('\r\n');
      requests += 1;
      if (requests > 1) {
        lost.push(line);
        socket.destroy();
        return;
      }
      served.push(line);
      const body = '{"id":1,"name":"Project 1"}';
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    served,
    lost,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a write goes on a connection of its own, so that none is lost with one that the upstream closes', async () => {
  await using upstream = await startClosing();
  await using gateway = await startGateway(upstream);
  const change = 'mutation { updateProject(input: { id: 1, name: "a" }) { project { name } } }';
  // Leaves a connection open behind it.
  expect((await gateway.ask('{ project(id: 1) { name } }')).errors).toBeUndefined();
  for (let time = 0; time < 5; time += 1) expect((await gateway.ask(change)).errors).toBeUndefined();
  expect(upstream.served.filter((line) => line.startsWith('PATCH'))).toHaveLength(5);
  expect(upstream.lost).toEqual([]);
});
