import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { MemoryRoom } from '../../src/memory.ts';
import { askOnce, Transport } from '../../src/rest/transport/transport.ts';
import { listen } from '../support/listen.ts';

test.each([
  ['there is no room for its body', 1000, 10],
  ['its body is too large', 10, 1000],
])(
  'if %s, its connection takes no further request, though the whole response has come',
  async (_why, maxBodyBytes, bytes) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (text) => {
        const body = 'x'.repeat(String(text).includes('/large') ? 20 : 2);
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      });
    });
    const transport = new Transport({
      ...{ origin: `http://127.0.0.1:${await listen(server)}`, connections: 1, maxBodyBytes },
      room: new MemoryRoom(bytes),
    });
    const ask = (target: string) => askOnce(transport, { method: 'GET', target, headers: {} }, 1000);
    await expect(ask('/large')).rejects.toMatchObject({ name: 'TransportError' });
    expect((await ask('/small')).status).toBe(200);
    transport.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  },
);
