import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { startGateway } from '../support/gateway.ts';
import { readGraphiql } from '../support/graphiql.ts';
import { together } from '../support/load.ts';
import { project } from '../support/rows.ts';
import { shareSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const whole = '{"data":{"project":{"name":"Project 1"}}}';

const attacked = shareSmallGateway({ 'GET /api/projects/1/': project(1) }, query);

test('a thousand connections that say nothing hold up no other client', async () => {
  const { gateway, upstream } = attacked();
  await withstand(gateway, async () => {
    const sockets = await together(1000, 100, async () => {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    });
    for (let times = 0; times < 3; times += 1) expect((await gateway.ask(query)).body).toBe(whole);
    for (const socket of sockets) socket.destroy();
  });
  expect(upstream.requests.filter((line) => line === 'GET /api/projects/1/')).toHaveLength(3);
});

async function open(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n`;
}

test.each([
  ['metrics', get('/metrics'), 60],
  ["GraphiQL's page", get('/graphql', 'accept: text/html\r\naccept-encoding: gzip\r\n'), 60],
  ['a script of GraphiQL that is not there', get(`/graphql?graphiql=${'a'.repeat(43)}`), 60],
  ['what is not there', get('/nothing'), 2000],
  ['documents that do not parse', get('/graphql?query={'), 60],
])('pipelined requests for %s whose answers are not read hold up no other client', async (...attack) => {
  const [, bytes, times] = attack;
  const { gateway } = attacked();
  // The time to load late modules is not that of the attack.
  const first = await open(gateway.port, bytes);
  await once(first, 'data');
  first.destroy();
  await withstand(gateway, async () => {
    const sockets = await together(100, 20, () => open(gateway.port, bytes.repeat(times)));
    for (let asked = 0; asked < 3; asked += 1) expect((await gateway.ask(query)).body).toBe(whole);
    for (const socket of sockets) socket.destroy();
  });
});

test("pipelined requests for GraphiQL's script whose answers are not read share its bytes", async () => {
  const { gateway } = attacked();
  const { script } = await readGraphiql(gateway.url);
  await withstand(gateway, async () => {
    const sockets = await together(100, 20, () => open(gateway.port, get(script).repeat(60)));
    for (let asked = 0; asked < 3; asked += 1) expect((await gateway.ask(query)).body).toBe(whole);
    for (const socket of sockets) socket.destroy();
  });
});

test('a connection on which too many requests wait for their answers is closed', async () => {
  const { upstream, gateway } = await startBoth({ 'GET /api/projects/1/': project(1) }, {}, { hold: 2 });
  const waits = get('/graphql?query={project(id:1){name}}', 'authorization: Bearer phx_test\r\n');
  const socket = await open(Number(new URL(gateway.url).port), waits + get('/healthz').repeat(64));
  await once(socket.resume(), 'close');
  upstream.release();
  expect((await gateway.ask(query)).body).toBe(whole);
});

test('a connection beyond the limit takes the place of the oldest one that asks nothing', async () => {
  const { gateway } = await startBoth({ 'GET /api/projects/1/': project(1) }, {}, { maxConnections: 3 });
  const port = Number(new URL(gateway.url).port);
  const idle = await Promise.all(Array.from({ length: 3 }, () => open(port, get('/healthz'))));
  await Promise.all(idle.map((socket) => once(socket, 'data')));
  const closed = Promise.race(idle.map((socket) => once(socket.resume(), 'close')));
  await once(await open(port, get('/healthz')), 'data');
  await closed;
  expect((await gateway.ask(query)).body).toBe(whole);
});

test('if all connections have asked something, one beyond the limit is closed', async () => {
  const { upstream, gateway } = await startBoth(
    { 'GET /api/projects/1/': project(1) },
    {},
    { hold: 3, maxConnections: 2 },
  );
  const port = Number(new URL(gateway.url).port);
  const waits = get('/graphql?query={project(id:1){name}}', 'authorization: Bearer phx_test\r\n');
  const busy = await Promise.all([open(port, waits), open(port, waits)]);
  await expect.poll(() => upstream.requests.length).toBeGreaterThan(0);
  const late = await open(port, get('/healthz'));
  await once(late.resume(), 'close');
  upstream.release();
  for (const socket of busy) expect(String(await once(socket, 'data'))).toContain(whole);
  for (const socket of busy) socket.destroy();
});

test.concurrent.each([
  ['takes one document', '', 1],
  ['takes one document and sends requests ahead', '', 10],
  ['takes a stream', 'accept: text/event-stream\r\n', 1],
])('a client that %s too slowly loses the connection', async (_name, accept, times) => {
  const name = 'a'.repeat(7_000_000);
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1, { name }) });
  await using gateway = await startGateway(upstream, {}, { readers: { graceMs: 500, bytesPerSecond: 100_000_000 } });
  const path = `/graphql?query=${encodeURIComponent('{ project(id: 1) { a: name b: name } }')}`;
  const headers = `authorization: Bearer phx_test\r\n${accept}`;
  const socket = await open(Number(new URL(gateway.url).port), get(path, headers));
  const requests = Array.from({ length: times - 1 }, () => get(path, headers));
  const ahead = setInterval(() => socket.write(requests.pop() ?? ''), 200);
  let taken = 0;
  socket.on('data', (chunk: Buffer) => {
    taken += chunk.length;
    socket.pause();
  });
  // A little now and then.
  const timer = setInterval(() => socket.resume(), 50);
  // A request that is sent ahead may meet the end of the connection.
  await new Promise((resolve) => void socket.on('close', resolve));
  clearInterval(timer);
  clearInterval(ahead);
  expect(taken).toBeLessThan(2 * name.length);
});
