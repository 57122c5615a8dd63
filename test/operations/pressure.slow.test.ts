import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { startBothCaching } from '../support/cache.ts';
import { at, rowsOf } from '../support/connections.ts';
import { expectWithin, measured } from '../support/form.ts';
import { ask, startGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { as, askTimed, codesOf, pause, together } from '../support/load.ts';
import { peakMemory } from '../support/memory.ts';
import { startProber } from '../support/prober.ts';
import { runMain } from '../support/process.ts';
import { hang } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { listedProject, project } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

function read(id: number): string {
  return `{ project(id: ${id}) { name } }`;
}

async function startSlow(milliseconds: number): Promise<Upstream> {
  const answer: Handler = async () => {
    await pause(milliseconds);
    return project(1);
  };
  const upstream = await startUpstream(answer);
  upstream.release();
  return upstream;
}

test('1,500 at once: at most 512 calls in flight, all answered, in 512 MB, and the server stays awake', async () => {
  await using upstream = await startSlow(500);
  await using gateway = runMain([], { PORT: '0', UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn' });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  await using prober = await startProber(new URL('/healthz', url));
  const answers = await together(1500, 1500, (index) => ask(url, read(index), as(`phx_${index % 30}`)));
  const good = answers.filter(({ status, errors }) => status === 200 && errors === undefined).length;
  const residentMB = (await peakMemory(gateway)) / 2 ** 20;
  const { mostInFlight } = upstream;
  const slowestHealthzMs = Math.max(...prober.tookMs);
  measured('1,500 at once', { good, mostInFlight, slowestHealthzMs, residentMB });
  expect(good).toBe(1500);
  expect(mostInFlight).toBeLessThanOrEqual(512);
  // Three turns of calls of half a second each: a server that answers nothing meanwhile answers a probe or two.
  expect(prober.tookMs.length).toBeGreaterThan(5);
  expectWithin(slowestHealthzMs, 1000);
  expect(residentMB).toBeLessThan(512);
});

test('16 operations of 100 calls each from one key, all at once, wait for their turn and are answered', async () => {
  const projects = listOf(rowsOf(1600, listedProject));
  const lists = Promise.withResolvers<undefined>();
  const dashboards = Promise.withResolvers<undefined>();
  let isHeld = false;
  const { upstream, gateway } = await startBoth(
    {
      'GET /api/projects/': async (request) => {
        if (isHeld) await lists.promise;
        return projects(request);
      },
      'GET /api/projects/:id/dashboards/': async (request) => {
        await dashboards.promise;
        return listOf([])(request);
      },
    },
    { upstreamConnections: 512, operationDeadlineMs: 60_000 },
    { hold: 0 },
  );
  const cursors: unknown[] = [null];
  const next = 'query ($after: String) { projects(first: 100, after: $after) { pageInfo { endCursor } } }';
  while (cursors.length < 16) {
    const answer = await gateway.ask(next, { variables: { after: cursors.at(-1) } });
    cursors.push(at(answer, 'data', 'projects', 'pageInfo', 'endCursor'));
  }
  isHeld = true;
  const nested =
    'query ($after: String) { projects(first: 100, after: $after) { nodes { dashboards { totalCount } } } }';
  const answers = together(16, 16, (index) => gateway.ask(nested, { variables: { after: cursors[index] } }));
  await until(() => upstream.requests.length === 15 + 16);
  lists.resolve(undefined);
  await until(() => gateway.gateway.resources.limiter.queued === 1600 - 512);
  dashboards.resolve(undefined);
  expect((await answers).flatMap(codesOf)).toEqual([]);
});

test('what finds no place is refused before it runs, with 503 and Retry-After, or sheds its call', async () => {
  await using upstream = await startSlow(100);
  await using gateway = await startGateway(upstream, { maxUpstreamInFlight: 4 });
  const answers = await together(100, 100, (index) => gateway.ask(read(index), as(`phx_${index % 10}`)));
  const refused = answers.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  for (const { headers, errors, data } of refused) {
    expect(headers.get('retry-after')).toBe('1');
    expect(data).toBeUndefined();
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'OVERLOADED' }]);
  }
  const codes = answers.filter(({ status }) => status !== 503).flatMap(codesOf);
  expect(codes.every((code) => code === 'OVERLOADED')).toBe(true);
  expect(upstream.mostInFlight).toBeLessThanOrEqual(4);
  expect(codesOf(await gateway.ask(read(1)))).toEqual([]);
});

test('what the cache has is answered though no call would find a place, what is too old by a little, too', async () => {
  let isHeld = false;
  const held = Promise.withResolvers<undefined>();
  const { gateway } = await startBothCaching(
    async () => {
      if (isHeld) await held.promise;
      return project(1);
    },
    { maxUpstreamInFlight: 1 },
    { hold: 0 },
  );
  expect(codesOf(await gateway.ask(read(1)))).toEqual([]);
  isHeld = true;
  const others = together(5, 5, (index) => gateway.ask(read(index + 2)));
  // One is in flight, and of the eight places of the queue one key has half.
  await until(() => gateway.gateway.resources.limiter.queued === 4);
  const statusOf = async (query: string): Promise<number> => (await gateway.ask(query)).status;
  const inAnotherWay = '{ project(id: 1) { upstreamId name } }';
  expect([await statusOf(read(1)), await statusOf(inAnotherWay), await statusOf(read(7))]).toEqual([200, 200, 503]);
  gateway.pass(60);
  expect([await statusOf(read(1)), await statusOf(inAnotherWay), await statusOf(read(7))]).toEqual([200, 200, 503]);
  held.resolve(undefined);
  expect((await others).flatMap(codesOf)).toEqual([]);
});

test('a call that is shed during execution is an error of its field, siblings keep their data', async () => {
  await using upstream = await startSlow(50);
  await using gateway = await startGateway(upstream, { maxUpstreamInFlight: 1 });
  const fields = [1, 2, 3, 4, 5, 6].map((id) => `p${id}: project(id: ${id}) { name }`);
  const answer = await gateway.ask(`{ ${fields.join(' ')} }`);
  const { status, errors } = answer;
  expect(status).toBe(200);
  expect(answer.data).toMatchObject({ p1: { name: 'Project 1' }, p2: { name: 'Project 1' } });
  expect(errors?.[0]?.extensions).toEqual({ code: 'OVERLOADED', upstream: { retryAfter: 1 } });
  expect(errors?.length).toBeLessThan(6);
});

test('what cannot start before its deadline is shed then, without a call', async () => {
  let answering = false;
  const { upstream, gateway } = await startBoth(
    () => (answering ? project(1) : hang),
    {
      maxUpstreamInFlight: 1,
      operationDeadlineMs: 700,
    },
    { hold: 0 },
  );
  const first = gateway.ask(read(1));
  await until(() => upstream.requests.length === 1);
  await pause(100);
  const second = await Promise.all([first, gateway.ask(read(2))]);
  expect(second.flatMap(codesOf)).toEqual([
    'UPSTREAM_TIMEOUT',
    expect.stringMatching(/^(OVERLOADED|UPSTREAM_TIMEOUT)$/),
  ]);
  answering = true;
  expect(codesOf(await gateway.ask(read(3)))).toEqual([]);
});

test("one key's flood leaves room for another's few", async () => {
  // Long enough for the few to come while the first of the flood are in flight, on a busy machine, too.
  await using upstream = await startSlow(500);
  await using gateway = await startGateway(upstream, { maxUpstreamInFlight: 64, operationDeadlineMs: 8000 });
  // Its key is known: no call waits for that.
  await gateway.ask(read(0), as('phx_flood'));
  upstream.reset();
  const flood = together(128, 128, (index) => gateway.ask(read(index), as('phx_flood')));
  const fields = Array.from({ length: 2 }, (_, id) => `p${id}: project(id: ${1000 + id}) { name }`);
  await until(() => upstream.requests.length >= 64);
  const few = await askTimed(gateway.url, `{ ${fields.join(' ')} }`, as('phx_few'));
  expect(codesOf(few)).toEqual([]);
  const order = upstream.records.map(({ headers }) => headers.authorization);
  // Its calls, of which each reads one row by its id, come with the next that are started, not behind the 64 that waited before them.
  expect(order.lastIndexOf('Bearer phx_few')).toBeLessThan(64 + 64);
  expect((await flood).flatMap(codesOf)).toEqual([]);
});

test('clients that leave cancel their calls, in flight or waiting', async () => {
  let answering = true;
  const { upstream, gateway } = await startBoth(
    () => (answering ? project(1) : hang),
    { maxUpstreamInFlight: 60 },
    { hold: 0 },
  );
  // Calls with a key that is not known yet go on after their clients have left.
  await together(10, 10, (index) => gateway.ask(read(0), as(`phx_${index}`)));
  answering = false;
  upstream.reset();
  const leaving = new AbortController();
  const asking = together(100, 100, (index) =>
    gateway.ask(read(index), { ...as(`phx_${index % 10}`), signal: leaving.signal }).catch(() => undefined),
  );
  await until(() => upstream.requests.length === 60);
  await pause(50);
  leaving.abort();
  await asking;
  // Time for those that waited to take the place of one that was cancelled.
  await pause(200);
  await until(() => upstream.records.every(({ cancelled }) => cancelled));
  expect(upstream.records.filter(({ cancelled }) => !cancelled)).toEqual([]);
});

test('a call whose client left while it waited for a slot is never sent', async () => {
  const { upstream, gateway } = await startBoth(() => project(1), { maxUpstreamInFlight: 1 }, { hold: 2 });
  const first = gateway.ask(read(1));
  await until(() => upstream.requests.length === 1);
  const leaving = new AbortController();
  const second = gateway.ask(read(2), { signal: leaving.signal }).catch(() => undefined);
  await pause(100);
  leaving.abort();
  await second;
  await pause(100);
  upstream.release();
  expect(codesOf(await first)).toEqual([]);
  expect(codesOf(await gateway.ask(read(3)))).toEqual([]);
  expect(upstream.requests).toEqual(['GET /api/projects/1/', 'GET /api/projects/3/']);
});
