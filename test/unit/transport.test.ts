import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MemoryRoom } from '../../src/memory.ts';
import type { HttpRequest } from '../../src/rest/transport/request-heads.ts';
import { type RawResponse, type SentRequest, Transport, TransportError } from '../../src/rest/transport/transport.ts';
import { listen } from '../support/listen.ts';
import { until } from '../support/until.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';

/** A server's response to the request with this number on the connection with this number. */
type Answer = (request: string, socket: Socket, connection: number, number: number) => void;

/** A server that reads requests without a body and writes what it likes, and the transport to it. */
async function startWire(answer: Answer, { connections = 4, onConnect = (_socket: Socket): void => undefined } = {}) {
  const sockets = new Set<Socket>();
  /** The first line of each request, behind the number of its connection. */
  const requests: string[] = [];
  let opened = 0;
  const server = createServer((socket) => {
    const connection = opened;
    opened += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    onConnect(socket);
    let number = 0;
    socket.setEncoding('latin1').on('data', (text: string) => {
      for (const request of text.split('\r\n\r\n').slice(0, -1)) {
        requests.push(`${connection}: ${request.split(' HTTP', 1)[0]}`);
        answer(request, socket, connection, number);
        number += 1;
      }
    });
  });
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const room = new MemoryRoom(2 ** 20);
  const transport = new Transport({ origin, connections, maxBodyBytes: 1000, room });
  const send = (target: string, call: Partial<HttpRequest> = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const sent: SentRequest = transport.send(
      { method: 'GET', target, headers: { accept: 'a/b' }, ...call },
      {
        responded: (response) => {
          resolve(`${response.status} ${response.body.toString()}`);
          response.release();
        },
        failed: reject,
      },
    );
    promise.catch(() => undefined);
    return { ended: promise, abort: sent.abort.bind(sent), isWaiting: () => sent.isWaiting };
  };
  return {
    ...{ transport, requests, sockets, room, send },
    ask: (target: string, call?: Partial<HttpRequest>) => send(target, call).ended,
    async [Symbol.asyncDispose]() {
      transport.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function failing(fault: TransportError['fault']): unknown {
  return expect.objectContaining({ name: 'TransportError', fault });
}

test('a request has what HTTP/1.1 asks for, and the next one takes the same connection', async () => {
  const heads: string[] = [];
  await using wire = await startWire((request, socket) => {
    heads.push(request);
    socket.write(ok);
  });
  expect(await wire.ask('/a?b=%20')).toBe('200 {}');
  expect(await wire.ask('/c')).toBe('200 {}');
  expect(wire.requests).toEqual(['0: GET /a?b=%20', '0: GET /c']);
  const [head = ''] = heads;
  expect(head.split('\r\n')).toEqual([
    'GET /a?b=%20 HTTP/1.1',
    expect.stringMatching(/^host: 127\.0\.0\.1:\d+$/) as unknown,
    'accept: a/b',
    'connection: keep-alive',
  ]);
});

test('requests at the same time have a connection each, up to the most; the others follow in their order', async () => {
  const held: Socket[] = [];
  await using wire = await startWire((_request, socket) => void held.push(socket), { connections: 2 });
  const ended = ['/1', '/2', '/3', '/4'].map((target) => wire.ask(target));
  await until(() => held.length === 2);
  expect(wire.requests.map((line) => line.slice(3)).toSorted()).toEqual(['GET /1', 'GET /2']);
  held[0]?.write(ok);
  await until(() => held.length === 3);
  held[1]?.write(ok);
  await until(() => held.length === 4);
  expect(wire.requests.slice(2)).toEqual(['0: GET /3', '1: GET /4']);
  for (const socket of held.slice(2)) socket.write(ok);
  expect(await Promise.all(ended)).toEqual(['200 {}', '200 {}', '200 {}', '200 {}']);
});

test('a write that needs a new connection gets one, which is closed behind it', async () => {
  await using wire = await startWire((_request, socket) => socket.write(ok));
  await wire.ask('/1');
  await wire.ask('/2', { method: 'DELETE', needsNewConnection: true });
  await until(() => wire.sockets.size === 1);
  await wire.ask('/3');
  expect(wire.requests).toEqual(['0: GET /1', '1: DELETE /2', '0: GET /3']);
});

test('a read does not wait for a write that opens a connection of its own', async () => {
  await using wire = await startWire((request, socket) => {
    if (request.startsWith('GET')) socket.write(ok);
  });
  wire.send('/1', { method: 'DELETE', needsNewConnection: true });
  expect(await wire.ask('/2')).toBe('200 {}');
  expect(wire.requests.map((line) => line.slice(3)).toSorted()).toEqual(['DELETE /1', 'GET /2']);
});

test.each([
  ['behind a response', `${ok}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"evil"`, 0],
  ['later, when nothing was asked', ok, 20],
])('bytes that come %s are never the answer of the next request', async (_what, first, delay) => {
  await using wire = await startWire((_request, socket, connection, number) => {
    if (connection > 0 || number > 0) return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine');
    socket.write(first);
    if (delay > 0) void sleep(delay).then(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"evil"'));
  });
  expect(await wire.ask('/1')).toBe('200 {}');
  await sleep(3 * delay);
  expect(await wire.ask('/2')).toBe('200 mine');
  expect(wire.requests).toEqual(['0: GET /1', '1: GET /2']);
});

test('a server that speaks first is not HTTP', async () => {
  await using wire = await startWire(() => undefined, { onConnect: (socket) => socket.write('220 mail ready\r\n') });
  await expect(wire.ask('/1')).rejects.toEqual(failing('invalid'));
});

test.each([
  ['Content-Length: 38', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['Transfer-Encoding: chunked', '0\r\n\r\n'],
])(
  'the body that a 204 with %s has all the same is not read as the response to another request',
  async (line, body) => {
    await using wire = await startWire((request, socket) => {
      if (request.startsWith('DELETE')) socket.write(`HTTP/1.1 204 No Content\r\n${line}\r\n\r\n`);
      else socket.write(socket.bytesWritten === 0 ? ok : body);
    });
    expect(await wire.ask('/a', { method: 'DELETE' })).toBe('204 ');
    expect(await wire.ask('/b')).toBe('200 {}');
  },
);

test('an idle connection is closed before the server would close it', async () => {
  const answered = (seconds: string): string => ok.replace('Content', `Keep-Alive: timeout=${seconds}\r\nContent`);
  await using wire = await startWire((request, socket) => socket.write(answered(request.includes('/2') ? '3' : '2')));
  // Two seconds are the margin: it is not kept at all.
  await wire.ask('/1');
  await until(() => wire.sockets.size === 0);
  await wire.ask('/2');
  expect(wire.sockets.size).toBe(1);
  await until(() => wire.sockets.size === 0);
  await wire.ask('/3');
  expect(wire.requests).toEqual(['0: GET /1', '1: GET /2', '2: GET /3']);
});

test('a used connection that ends without a byte is stale; one that was new, or within a response, failed', async () => {
  await using wire = await startWire((request, socket) => {
    if (request.includes('/ok')) socket.write(ok);
    else if (request.includes('/part')) socket.end('HTTP/1.1 200 OK\r\nContent-Le');
    else socket.destroy();
  });
  await expect(wire.ask('/1')).rejects.toEqual(failing('network'));
  await wire.ask('/ok');
  await expect(wire.ask('/2')).rejects.toEqual(failing('stale-socket'));
  await wire.ask('/ok');
  await expect(wire.ask('/part')).rejects.toEqual(failing('network'));
});

test('a response is not read beyond the most bytes, whether it tells its length or not', async () => {
  await using wire = await startWire((request, socket) => {
    if (request.includes('/length')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n');
    else socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1001)}`);
  });
  await expect(wire.ask('/length')).rejects.toEqual(failing('invalid'));
  await expect(wire.ask('/none')).rejects.toEqual(failing('invalid'));
  expect(wire.room.taken).toBe(0);
});

test('a body that comes in pieces takes no more memory than its bytes if its length is known', async () => {
  await using wire = await startWire((_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n');
    for (let piece = 0; piece < 3; piece += 1) setTimeout(() => socket.write('x'.repeat(300)), 20 * (piece + 1));
  });
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  wire.transport.send({ method: 'GET', target: '/', headers: {} }, { responded: resolve, failed: reject });
  const response = await promise;
  expect([response.body.length, response.body.buffer.byteLength]).toEqual([900, 900]);
  response.release();
});

test('a request that is given up closes its connection, or gives up its place', async () => {
  const held: Socket[] = [];
  await using wire = await startWire((_request, socket) => void held.push(socket), { connections: 1 });
  const [sent, waiting, last] = [wire.send('/1'), wire.send('/2'), wire.send('/3')];
  await until(() => held.length === 1);
  expect([sent.isWaiting(), waiting.isWaiting()]).toEqual([false, true]);
  waiting.abort();
  await expect(waiting.ended).rejects.toEqual(failing('aborted'));
  sent.abort();
  await expect(sent.ended).rejects.toEqual(failing('aborted'));
  await until(() => held.length === 2);
  held[1]?.write(ok);
  expect(await last.ended).toBe('200 {}');
  expect(wire.requests).toEqual(['0: GET /1', '1: GET /3']);
});

test('a new route gets new connections, and the old ones end with their last request', async () => {
  const held: Socket[] = [];
  await using wire = await startWire((request, socket) => {
    if (request.includes('/held')) held.push(socket);
    else socket.write(ok);
  });
  const slow = wire.ask('/held');
  await wire.ask('/1');
  wire.transport.reroute({});
  await until(() => wire.sockets.size === 1);
  await wire.ask('/2');
  held[0]?.write(ok);
  expect(await slow).toBe('200 {}');
  await until(() => wire.sockets.size === 1);
  expect(wire.requests.at(-1)).toMatch(/^2: /);
});

test('a connection that cannot be opened by an earlier route fails no request that was sent by a later one', async () => {
  const dead = createServer((socket) => void setTimeout(() => socket.destroy(), 100));
  const proxy = `https://127.0.0.1:${await listen(dead)}`;
  await using wire = await startWire((request, socket) => {
    setTimeout(() => socket.write(ok), request.includes('/first') ? 300 : 0);
  });
  wire.transport.reroute({ proxy });
  const first = wire.ask('/first');
  wire.transport.reroute({});
  const second = wire.ask('/second');
  await expect(second).resolves.toBe('200 {}');
  await expect(first).resolves.toBe('200 {}');
  dead.close();
});

test('a request by a new route does not wait for connections that an earlier route is still opening', async () => {
  const silent = createServer((socket) => void socket.on('error', () => undefined));
  const proxy = `https://127.0.0.1:${await listen(silent)}`;
  await using wire = await startWire((_request, socket) => socket.write(ok));
  wire.transport.reroute({ proxy });
  const left = wire.send('/left');
  left.abort();
  wire.transport.reroute({});
  const slow = sleep(2000, 'slow');
  expect(await Promise.race([wire.ask('/next'), slow])).toBe('200 {}');
  wire.transport.close();
  silent.close();
});

test('what would end a line of the head is not sent', async () => {
  await using wire = await startWire((_request, socket) => socket.write(ok));
  await expect(wire.ask('/1', { headers: { accept: 'a\r\nx: y' } })).rejects.toEqual(failing('network'));
  await expect(wire.ask('/1 HTTP/1.1\r\nx: y')).rejects.toEqual(failing('network'));
  expect(wire.requests).toEqual([]);
});

test('after it was closed, what is under way has failed, and nothing more is sent', async () => {
  const held: Socket[] = [];
  await using wire = await startWire((_request, socket) => void held.push(socket), { connections: 1 });
  const [sent, waiting] = [wire.ask('/1'), wire.ask('/2')];
  await until(() => held.length === 1);
  wire.transport.close();
  await expect(sent).rejects.toEqual(failing('network'));
  await expect(waiting).rejects.toBeInstanceOf(TransportError);
  await expect(wire.ask('/3')).rejects.toEqual(failing('network'));
  expect(wire.requests).toEqual(['0: GET /1']);
});
