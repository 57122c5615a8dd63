import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

/** Sends a text a byte at a time, for ever; resolves to the answer and how long it took once the server has had enough. */
async function drip(url: string, start: string, everyMs: number): Promise<{ answer: string; tookMs: number }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  const startedAt = performance.now();
  let answer = '';
  socket.on('data', (chunk: string) => void (answer += chunk));
  socket.on('error', () => undefined);
  socket.write(start);
  const timer = setInterval(() => socket.write('a'), everyMs);
  await once(socket, 'close');
  clearInterval(timer);
  return { answer, tookMs: performance.now() - startedAt };
}

test.concurrent('a client that takes nothing of a large answer for 15 seconds loses its connection', {
  timeout: 60_000,
}, async () => {
  const name = 'a'.repeat(7_000_000);
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1, { name }) });
  await using gateway = await startGateway(upstream, { maxAnswerBytes: 2 ** 26 });
  const query = '{ project(id: 1) { a: name b: name c: name d: name } }';
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify({ query });
  socket.on('error', () => undefined);
  socket
    .pause()
    .write(
      `POST /graphql HTTP/1.1\r\nhost: a\r\nauthorization: Bearer phx_test\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  await new Promise((resolve) => setTimeout(resolve, 19_000));
  let taken = 0;
  socket.on('data', (chunk) => void (taken += chunk.length)).resume();
  await once(socket, 'close');
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(4 * name.length);
  // A client that reads gets all of it, however slowly it began.
  expect((await gateway.ask(query)).body.length).toBeGreaterThan(4 * name.length);
});

test.concurrent('a client that takes more than 10 seconds for its headers, or 15 for its request, is sent away', {
  timeout: 60_000,
}, async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) });
  await using gateway = await startGateway(upstream);
  const headers = 'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
  const [slowHeaders, slowBody, silent] = await Promise.all([
    drip(gateway.url, `${headers}x-slow: `, 500),
    drip(gateway.url, `${headers}content-length: 1000\r\n\r\n{"query":"`, 500),
    drip(gateway.url, `${headers}content-length: 1000\r\n\r\n`, 60_000),
  ]);
  expect(slowHeaders.answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(slowHeaders.tookMs).toBeGreaterThan(9000);
  for (const { answer, tookMs } of [slowBody, silent]) {
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(tookMs).toBeGreaterThan(14_000);
  }
  expect(upstream.requests).toEqual([]);
  expect((await gateway.ask('{ project(id: 1) { name } }')).errors).toBeUndefined();
  expect(gateway.reported).toEqual([]);
});
