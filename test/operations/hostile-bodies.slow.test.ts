import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createRequestRoom } from '../../src/http/request.ts';
import { bytesOnceParsed } from '../../src/rest/transport/json-weight.ts';
import type { Answer } from '../support/gateway.ts';
import { codesOf, pause, together } from '../support/load.ts';
import { hang } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { startSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const whole = '{"data":{"project":{"name":"Project 1"}}}';
const create = 'mutation ($extra: JSON) { createProject(input: { name: "a", extra: $extra }) { project { id } } }';

/** A megabyte that takes more than twenty once it is parsed. */
const emptyObjects = Array.from({ length: 300_000 }, () => ({}));

test.each(['application/json', 'text/event-stream'])(
  'bodies that take much memory while they wait are taken as long as there is room: %s',
  async (accept) => {
    await using upstream = await startUpstream({
      'GET /api/projects/1/': project(1),
      'POST /api/projects/': () => hang,
    });
    upstream.release();
    await using gateway = await startSmallGateway(upstream, { OPERATION_DEADLINE_MS: '4000' });
    expect((await gateway.ask(query)).body).toBe(whole);
    const body = JSON.stringify({ query: create, variables: { extra: { list: emptyObjects } } });
    const outcomes = await withstand(gateway, async () => {
      const waiting = together(40, 40, async () => {
        const headers = { 'content-type': 'application/json', authorization: 'Bearer phx_test', accept };
        const response = await fetch(gateway.url, { method: 'POST', headers, body });
        const answer = await response.text();
        const code = /"code":"([A-Z_]+)"/.exec(answer)?.[1];
        return `${response.status} ${code} ${response.headers.get('retry-after')}`;
      });
      for (let times = 0; times < 3; times += 1) {
        await pause(200);
        expect((await gateway.ask(query)).body).toBe(whole);
      }
      return waiting;
    });
    const kinds = new Map<string, number>();
    for (const outcome of outcomes) kinds.set(outcome, (kinds.get(outcome) ?? 0) + 1);
    const refused = '503 OVERLOADED 1';
    expect(kinds.get(refused)).toBeGreaterThan(20);
    expect([...kinds.keys()].filter((kind) => kind !== refused)).toEqual(['200 UPSTREAM_TIMEOUT null']);
    expect((await gateway.ask(query)).body).toBe(whole);
  },
);

test('variables that no operation declares take no room while it waits', async () => {
  await using upstream = await startUpstream({
    'GET /api/projects/1/': project(1),
    'GET /api/projects/:id/dashboards/': () => hang,
  });
  await using gateway = await startSmallGateway(upstream, { OPERATION_DEADLINE_MS: '5000' });
  expect((await gateway.ask(query)).body).toBe(whole);
  await withstand(gateway, async () => {
    const waiting: Promise<Answer>[] = [];
    for (let id = 1; id <= 12; id += 1) {
      const slow = `{ project(id: ${id}) { dashboards { totalCount } } }`;
      waiting.push(gateway.ask(slow, { variables: { undeclared: emptyObjects } }));
      while (upstream.requests.filter((line) => line.includes('/dashboards/')).length < id) await pause(10);
    }
    // Each of them took more than a third of the room when it came.
    expect((await Promise.all(waiting)).map(codesOf)).toEqual(waiting.map(() => ['UPSTREAM_TIMEOUT']));
  });
});

test('bodies that never end leave room for those that do', async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) });
  await using gateway = await startSmallGateway(upstream);
  expect((await gateway.ask(query)).body).toBe(whole);
  const head = `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
  const answers = await withstand(gateway, async () => {
    const sockets = await together(100, 100, async () => {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(`${head}content-length: 1000000\r\n\r\n${'a'.repeat(999_000)}`);
      return socket;
    });
    const read = sockets.map((socket) => text(socket.setEncoding('utf8')));
    for (let times = 0; times < 5; times += 1) {
      await pause(200);
      expect((await gateway.ask(query)).body).toBe(whole);
    }
    for (const socket of sockets) socket.end();
    return Promise.all(read);
  });
  const refused = answers.filter((answer) => answer.startsWith('HTTP/1.1 503 '));
  expect(refused.length).toBeGreaterThan(30);
  expect(refused.length).toBeLessThan(70);
  for (const answer of refused) expect(answer).toMatch(/^retry-after: 1\r$[^]*"code":"OVERLOADED"/im);
});

test('what bodies take is given back, whatever becomes of them', () => {
  const room = createRequestRoom(2 ** 20);
  const fill = () => Array.from({ length: 48 }, () => room.claim());
  for (let times = 0; times < 3; times += 1) {
    const claims = fill();
    for (const claim of claims) expect(claim.resize(2 ** 20)).toBe(true);
    const late = room.claim();
    expect(late.resize(2 ** 20)).toBe(false);
    expect(late.resize(1000)).toBe(true);
    for (const claim of [...claims, late]) claim.release();
  }
});

test('a body is weighed by what it takes once it is parsed', () => {
  expect(bytesOnceParsed('{"query":"{ a }"}')).toBe(17 * 4);
  expect(bytesOnceParsed(JSON.stringify(emptyObjects))).toBeGreaterThan(20_000_000);
  expect(bytesOnceParsed(JSON.stringify('a'.repeat(1_000_000)))).toBeLessThan(1_100_000);
});
