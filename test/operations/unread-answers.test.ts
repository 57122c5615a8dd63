import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { key } from '../support/gateway.ts';
import { pause } from '../support/load.ts';
import { project } from '../support/rows.ts';
import { openWith, postOf } from '../support/wire.ts';

const name = 'a'.repeat(7_000_000);
const query = '{ project(id: 1) { a: name b: name c: name d: name } }';

test('if there is no room for an answer, the client that reads nothing of its own is ended and counted', async () => {
  const routes = { 'GET /api/projects/1/': project(1, { name }) };
  const { gateway } = await startBoth(routes, { maxAnswerBytes: 2 ** 26, answerRoomBytes: 40_000_000 });
  const socket = openWith(gateway.url, postOf(query));
  await once(socket, 'readable');
  await pause(1100);
  const answer = await gateway.ask(query);
  expect([answer.status, answer.body.length > 4 * name.length]).toEqual([200, true]);
  let taken = 0;
  socket.on('data', (chunk) => void (taken += chunk.length));
  await once(socket, 'close');
  expect(taken).toBeLessThan(4 * name.length);
  expect(await gateway.gateway.metrics.render()).toMatch(/^gateway_refused_requests_total\{.*slow_reader.*\} 1$/m);
});

test('if there is no room for an answer, and no client is stuck, the answer is refused', async () => {
  const routes = { 'GET /api/projects/1/': project(1, { name }) };
  const { gateway } = await startBoth(routes, { maxAnswerBytes: 2 ** 26, answerRoomBytes: 20_000_000 });
  const refused = await gateway.ask(query);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(refused.errors?.[0]?.extensions['code']).toBe('OVERLOADED');
  expect((await gateway.ask('{ project(id: 1) { name } }')).errors).toBeUndefined();
});

test('if there is no room for an answer, a client is ended that reads nothing of answers that were written at once', async () => {
  const small = 'a'.repeat(60_000);
  const routes = { 'GET /api/projects/1/': project(1, { name: small }) };
  const { gateway, upstream } = await startBoth(routes, { answerRoomBytes: 100_000 });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const path = `/graphql?query=${encodeURIComponent('{ project(id: 1) { name } }')}`;
  const request = `GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n\r\n`;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // Until the operating system takes no more, and an answer waits in the process.
  for (let sent = 0; upstream.requests.length === sent; sent += 20) {
    socket.write(request.repeat(20));
    for (let pauses = 0; pauses < 100 && upstream.requests.length < sent + 20; pauses += 1) await pause(20);
  }
  const answer = await gateway.ask('{ project(id: 1) { name } }');
  expect([answer.status, answer.body.length > small.length]).toEqual([200, true]);
  socket.resume();
  await closed;
  expect(await gateway.gateway.metrics.render()).toMatch(/^gateway_refused_requests_total\{.*slow_reader.*\} 1$/m);
});
