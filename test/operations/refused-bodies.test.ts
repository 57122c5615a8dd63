import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';

const chunk = Buffer.alloc(65_536, 'a');
const length = 64 * chunk.length;

/** Sends a body of four megabytes whatever is answered meanwhile; resolves to the answer, and to the error of the connection. */
async function sendAll(url: string, start: string): Promise<{ answer: string; error: string | undefined }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  let answer = '';
  let error: string | undefined;
  socket.on('data', (text: string) => void (answer += text));
  socket.on('error', ({ message }) => void (error = message));
  const closed = once(socket, 'close').catch(() => undefined);
  socket.write(`${start}host: a\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`);
  await once(socket, 'data');
  for (let sent = 0; sent < length && !socket.destroyed; sent += chunk.length)
    await new Promise<void>((resolve) => void socket.write(chunk, () => resolve()));
  await closed;
  return { answer, error };
}

test.each([
  ['larger than a body may be', 413, 'POST /graphql HTTP/1.1\r\ncontent-type: application/json\r\n'],
  [
    'larger than a body may be, for a stream',
    413,
    'POST /graphql HTTP/1.1\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n',
  ],
  ['not JSON', 415, 'POST /graphql HTTP/1.1\r\ncontent-type: text/plain\r\n'],
  ['sent with another method', 405, 'PUT /graphql HTTP/1.1\r\ncontent-type: application/json\r\n'],
  ['sent elsewhere', 404, 'POST /nowhere HTTP/1.1\r\n'],
])('who sends a body that is %s gets the answer, although the connection closes', async (_what, status, start) => {
  const { gateway } = await startBoth({});
  const { answer, error } = await sendAll(gateway.url, start);
  expect(answer.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
  expect(error).toBeUndefined();
  expect(gateway.reported).toEqual([]);
});

test('a client that never ends its body is closed all the same', async () => {
  const { gateway } = await startBoth({});
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write('PUT /graphql HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n');
  const timer = setInterval(() => socket.write('1\r\na\r\n'), 50);
  socket.resume();
  await once(socket, 'close');
  clearInterval(timer);
  expect(gateway.reported).toEqual([]);
});
