import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { GrowingEvents, quick, subscribe } from '../support/live.ts';
import { project } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';
import { openWith, postOf } from '../support/wire.ts';

/** Sends a text a byte at a time, for ever; resolves to the answer and how long it took once the server has had enough. */
async function drip(url: string, start: string, everyMs: number): Promise<{ answer: string; tookMs: number }> {
  const startedAt = performance.now();
  const socket = openWith(url, start).setEncoding('latin1');
  let answer = '';
  socket.on('data', (chunk: string) => void (answer += chunk));
  const timer = setInterval(() => socket.write('a'), everyMs);
  await once(socket, 'close');
  clearInterval(timer);
  return { answer, tookMs: performance.now() - startedAt };
}

test.concurrent('a client that takes nothing of a large answer for 15 seconds loses its connection', async () => {
  const name = 'a'.repeat(7_000_000);
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1, { name }) });
  await using gateway = await startGateway(upstream, { maxAnswerBytes: 2 ** 26 });
  const query = '{ project(id: 1) { a: name b: name c: name d: name } }';
  const socket = openWith(gateway.url, postOf(query)).pause();
  await new Promise((resolve) => setTimeout(resolve, 19_000));
  let taken = 0;
  socket.on('data', (chunk) => void (taken += chunk.length)).resume();
  await once(socket, 'close');
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(4 * name.length);
  // A client that reads gets all of it, however slowly it began.
  expect((await gateway.ask(query)).body.length).toBeGreaterThan(4 * name.length);
});

test.concurrent('a client that reads steadily gets its answer while others that read nothing fill the room, and those are ended', async () => {
  const name = 'a'.repeat(3_000_000);
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1, { name }) });
  // The operating system takes 4 MiB ahead, and later about 1.4 MiB at a time, which the client reads in two seconds.
  const readers = { graceMs: 30_000, bytesPerSecond: 400_000 };
  const bytesPerMs = 700;
  const options = { maxAnswerBytes: 2 ** 26, answerRoomBytes: 60_000_000 };
  await using gateway = await startGateway(upstream, options, { readers });
  const query = '{ project(id: 1) { a: name b: name c: name } }';
  const steady = openWith(gateway.url, postOf(query));
  const startedAt = performance.now();
  let taken = 0;
  steady.on('data', (chunk) => {
    taken += chunk.length;
    const aheadMs = taken / bytesPerMs - (performance.now() - startedAt);
    if (aheadMs <= 0) return;
    steady.pause();
    setTimeout(() => steady.resume(), aheadMs);
  });
  const closed = once(steady, 'close');
  const silent: Socket[] = [];
  const timer = setInterval(() => silent.push(openWith(gateway.url, postOf(query)).pause()), 300);
  await Promise.race([closed, until(() => taken > 3 * name.length)]);
  clearInterval(timer);
  expect(taken).toBeGreaterThan(3 * name.length);
  expect(await gateway.gateway.metrics.render()).toMatch(/^gateway_refused_requests_total\{.*slow_reader.*\} [1-9]/m);
  for (const socket of [steady, ...silent]) socket.destroy();
});

test.concurrent('a listener that takes nothing of a large message for 15 seconds is closed, and delays no other', async (context) => {
  const events = new GrowingEvents();
  events.add(1, '2024-05-01T10:00:00Z');
  await using upstream = await startUpstream({ 'GET /api/projects/1/events/': events.list });
  upstream.release();
  await using gateway = await startGateway(upstream, { live: { ...quick, pollMs: 200 }, maxAnswerBytes: 2 ** 26 });
  const columns = 'a: properties b: properties c: properties d: properties';
  const query = `subscription { eventsAdded(projectId: 1) { nodes { ${columns} } } }`;
  const socket = openWith(gateway.url, postOf(query, 'accept: text/event-stream\r\n'));
  await once(socket, 'data');
  socket.pause();
  await using heard = await subscribe(gateway.url);
  const polls = upstream.requests.length;
  await context.expect.poll(() => upstream.requests.length).toBeGreaterThan(polls + 1);
  const told = events.add(100, '2024-05-01T10:02:00Z', { properties: 'x'.repeat(60_000) });
  await heard.until(() => heard.ids().length === told.length);
  const streams = async (): Promise<string | undefined> =>
    /^gateway_streams (\d+)$/m.exec(await gateway.gateway.metrics.render())?.[1];
  expect(await streams()).toBe('2');
  // So far apart that no poll reads what was told before.
  told.push(...events.add(1, '2024-05-01T10:05:00Z'));
  await heard.until(() => heard.ids().length === told.length);
  await context.expect.poll(streams).toBe('1');
  told.push(...events.add(1, '2024-05-01T10:08:00Z'));
  await heard.until(() => heard.ids().length === told.length);
  expect([heard.ids(), heard.ended]).toEqual([told, undefined]);
  socket.destroy();
});

test.concurrent('a client that takes more than 10 seconds for its headers, or 15 for its request, is sent away', async () => {
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
