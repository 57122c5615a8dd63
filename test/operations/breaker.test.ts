import { createServer, type Server } from 'node:http';
import { expect, test } from 'vitest';
import { expectWithin, inForm, measured } from '../support/form.ts';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { as, askTimed, codesOf, steadily, together, untilHealthy } from '../support/load.ts';
import { hang, reply } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const read = '{ project(id: 1) { name } }';
const write = 'mutation { updateProject(input: { id: "1", name: "New" }) { project { name } } }';

const keys = Array.from({ length: 8 }, (_, index) => as(`phx_${index}`));

/** An upstream whose answers a test changes on the way. */
async function startChanging(first: Handler) {
  const handlers = { now: first };
  const upstream = await startUpstream((request) => handlers.now(request));
  upstream.release();
  return { upstream, handlers };
}

const healthy: Handler = () => project(1);

/** Tests that wait more than they do run beside each other, unless their times are measured. */
const beside = { concurrent: inForm(true, false) };

function slowest(answers: readonly { readonly tookMs: number }[]): number {
  return Math.max(...answers.map(({ tookMs }) => tookMs));
}

test(
  'down for a while under 50 requests a second: answers within a second, healthy two seconds after',
  beside,
  async () => {
    const server: Server = createServer((_request, response) => response.end(JSON.stringify(project(1))));
    const port = await listen(server);
    await using gateway = await startGateway({ url: `http://127.0.0.1:${port}` });
    expect(codesOf(await gateway.ask(read))).toEqual([]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));

    const answers = await steadily(50, inForm(2000, 5000), (index) =>
      askTimed(gateway.url, read, keys[index % keys.length]),
    );
    expect(new Set(answers.flatMap(codesOf))).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
    expectWithin(slowest(answers), 1000);

    await listen(server, port);
    const healthyAfterMs = await untilHealthy(() => gateway.ask(read));
    measured('upstream down', { requests: answers.length, slowestMs: slowest(answers), healthyAfterMs });
    expectWithin(healthyAfterMs, 2000);
    server.closeAllConnections();
    server.close();
  },
);

test('while the upstream hangs, answers come in under a second; healthy two seconds after', beside, async () => {
  const { upstream, handlers } = await startChanging(() => hang);
  await using _ = upstream;
  await using gateway = await startGateway(upstream, { operationDeadlineMs: 2500 });
  const first = await together(16, 16, (index) => askTimed(gateway.url, read, keys[index % keys.length]));
  expect(new Set(first.flatMap(codesOf))).toEqual(new Set(['UPSTREAM_TIMEOUT']));

  upstream.reset();
  const startedAt = performance.now();
  const answers = await steadily(50, 2000, (index) => askTimed(gateway.url, read, keys[index % keys.length]));
  const seconds = (performance.now() - startedAt) / 1000;
  expect(new Set(answers.flatMap(codesOf))).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
  expectWithin(slowest(answers), 1000);
  // One probe a second, and not one call more.
  expect(upstream.requests.length).toBeLessThanOrEqual(seconds + 3);

  handlers.now = healthy;
  expectWithin(await untilHealthy(() => gateway.ask(read, as('phx_new'))), 2000);
  const after = await together(100, 20, (index) => askTimed(gateway.url, read, keys[index % keys.length]));
  expect(after.flatMap(codesOf)).toEqual([]);
});

test(
  'while the upstream hangs, one key with queries of two routes is answered in under a second, too',
  beside,
  async () => {
    const { upstream, handlers } = await startChanging(() => hang);
    await using _ = upstream;
    await using gateway = await startGateway(upstream, { operationDeadlineMs: 1500 });
    await together(8, 8, (index) =>
      gateway.ask(index % 2 === 0 ? read : '{ project(id: 1) { dashboards { totalCount } } }'),
    );
    const answers = await steadily(20, 1500, () => askTimed(gateway.url, read));
    // An operation that waited for the call of another would wait for its deadline.
    expect(new Set(answers.flatMap(codesOf))).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
    expectWithin(slowest(answers), 1000);
    handlers.now = healthy;
    expectWithin(await untilHealthy(() => gateway.ask(read)), 2000);
  },
);

test('while it is open, writes are refused at once and not sent', beside, async () => {
  const { upstream } = await startChanging(() => hang);
  await using _ = upstream;
  await using gateway = await startGateway(upstream, { operationDeadlineMs: 1000 });
  await together(16, 16, (index) => gateway.ask(read, keys[index % keys.length]));
  await gateway.ask(read);
  upstream.reset();
  const answer = await askTimed(gateway.url, write);
  expect(codesOf(answer)).toEqual(['UPSTREAM_UNAVAILABLE']);
  expectWithin(answer.tookMs, 500);
  expect(upstream.requests).toEqual([]);
});

test("no caller's slow query closes the way for others, or for its own other queries", beside, async () => {
  const { upstream } = await startChanging(({ path }) => (path.includes('events') ? hang : project(1)));
  await using _ = upstream;
  await using gateway = await startGateway(upstream, { operationDeadlineMs: 1500 });
  const slow = '{ project(id: 1) { events(first: 1) { nodes { upstreamId } } } }';
  for (let round = 0; round < 3; round += 1) {
    await together(10, 10, () => gateway.ask(slow, as('phx_slow')));
    const others = await together(8, 8, (index) => gateway.ask(read, keys[index]));
    expect(others.flatMap(codesOf)).toEqual([]);
    expect(codesOf(await gateway.ask(read, as('phx_slow')))).toEqual([]);
  }
  upstream.reset();
  await gateway.ask(slow, keys[1]);
  expect(upstream.requests).toEqual(['GET /api/projects/1/events/?limit=1']);
});

test("one caller's broken queries on several routes close the way for no other caller", async () => {
  const broken = reply({ status: 500, body: { detail: 'no' } });
  const { upstream } = await startChanging(({ headers }) =>
    headers.authorization === 'Bearer phx_broken' ? broken : project(1),
  );
  await using _ = upstream;
  await using gateway = await startGateway(upstream);
  const queries = ['{ project(id: 1) { name } }', '{ project(id: 1) { events(first: 1) { nodes { upstreamId } } } }'];
  await together(120, 20, (index) => gateway.ask(queries[index % 2] ?? '', as('phx_broken')));
  const others = await together(8, 8, (index) => gateway.ask(read, keys[index]));
  expect(others.flatMap(codesOf)).toEqual([]);
});

test('an upstream that fails every call is asked at most 1.2 times as often, and ten', async () => {
  const { upstream, handlers } = await startChanging(() => reply({ status: 503, body: { detail: 'down' } }));
  await using _ = upstream;
  await using gateway = await startGateway(upstream);
  const reads = inForm(400, 3000);
  const answers = await together(reads, 20, (index) =>
    gateway.ask(`{ project(id: ${index}) { name } }`, as(`k${index}`)),
  );
  expect(new Set(answers.flatMap(codesOf))).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
  measured('fully 503', { reads, attempts: upstream.requests.length, allowed: 1.2 * reads + 10 });
  expect(upstream.requests.length).toBeLessThanOrEqual(1.2 * reads + 10);
  handlers.now = healthy;
  expectWithin(await untilHealthy(() => gateway.ask(read)), 2000);
});

test('client errors never open the breaker', async () => {
  const { upstream, handlers } = await startChanging(() => reply({ status: 404, body: {} }));
  await using _ = upstream;
  await using gateway = await startGateway(upstream);
  for (const status of [400, 401, 403, 404, 409, 422]) {
    handlers.now = () => reply({ status, body: {} });
    await together(80, 20, (index) => gateway.ask(`{ project(id: ${index}) { name } }`, keys[index % keys.length]));
  }
  handlers.now = healthy;
  expect(codesOf(await gateway.ask(read))).toEqual([]);
});
