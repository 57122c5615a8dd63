import { expect, test } from 'vitest';
import { type GatewayOptions } from '../../src/gateway.ts';
import { isObject } from '../../src/rest/values.ts';
import { budgetOf } from '../support/budgets.ts';
import { startBothCaching, startCaching } from '../support/cache.ts';
import type { Answer, Request, TestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { registration, send } from '../support/persisted.ts';
import { notFound, refusal, reply } from '../support/replies.ts';
import type { Answer as Reply } from '../support/routes.ts';
import { listedProject, project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const read = 'GET /api/projects/1/';
const mutation = 'mutation { updateProject(input: { id: 1, name: "New" }) { project { id } } }';
const write = 'PATCH /api/projects/1/';

/** Starts a gateway that caches, over an upstream with one project. The name of the project counts its changes. */
async function startCached(
  options: Partial<GatewayOptions> = {},
  answer: (name: string) => Reply = (name) => project(1, { name }),
) {
  let changes = 0;
  let held = Promise.withResolvers<void>();
  held.resolve();
  const routes = {
    [read]: async () => {
      await held.promise;
      return answer(`Change ${changes}`);
    },
    [write]: () => {
      changes += 1;
      return project(1, { name: `Change ${changes}` });
    },
  };
  return {
    ...(await startBothCaching(routes, options)),
    change: () => void (changes += 1),
    hold: () => void (held = Promise.withResolvers()),
    release: () => held.resolve(),
  };
}

async function nameOf(gateway: TestGateway, request: Request = {}): Promise<unknown> {
  return namedIn(await gateway.ask(query, request));
}

function namedIn({ data, errors }: Answer): unknown {
  return (
    errors?.[0]?.extensions['code'] ?? (isObject(data) && isObject(data['project']) ? data['project']['name'] : null)
  );
}

async function received({ requests }: Upstream, count: number): Promise<void> {
  await expect.poll(() => requests, { interval: 2 }).toHaveLength(count);
}

test('a fresh answer is given without a call, and read again once it is too old', async () => {
  const { gateway, ...one } = await startCached();
  expect(await nameOf(gateway)).toBe('Change 0');
  one.change();
  gateway.pass(59);
  expect(await nameOf(gateway)).toBe('Change 0');
  gateway.pass(1 + 600);
  expect(await nameOf(gateway)).toBe('Change 1');
  expect(one.upstream.requests).toEqual([read, read]);
});

test('a stale answer is given at once, and refreshed by one call for all who are given it', async () => {
  const { gateway, ...one } = await startCached();
  await nameOf(gateway);
  one.change();
  gateway.pass(60);
  one.hold();
  const stale = await Promise.all(Array.from({ length: 20 }, () => nameOf(gateway, { extensions: { cost: true } })));
  expect(new Set(stale)).toEqual(new Set(['Change 0']));
  one.release();
  await expect.poll(() => nameOf(gateway)).toBe('Change 1');
  expect(one.upstream.requests).toEqual([read, read]);
});

test('no key is given what another one has read', async () => {
  const { upstream, gateway } = await startBothCaching(({ headers }) =>
    project(1, { name: headers.authorization ?? '' }),
  );
  for (const round of [1, 2]) {
    for (const key of ['phx_a', 'phx_b', 'phx_A']) {
      const authorization = `Bearer ${key}`;
      expect([round, await nameOf(gateway, { headers: { authorization } })]).toEqual([round, authorization]);
    }
  }
  expect(upstream.requests).toEqual([read, read, read]);
});

test.each([
  ['a failure of the upstream', reply({ status: 500, body: {} }), 'UPSTREAM_UNAVAILABLE'],
  ['an object that is not there', notFound, null],
  ['what the key may not see', refusal(403, 'permission_denied', 'No.'), 'FORBIDDEN'],
  [
    'an answer with no-store',
    reply({ headers: { 'cache-control': 'private, No-Store' }, body: project(1) }),
    'Project 1',
  ],
] as const)('%s is not kept', async (_what, answer, expected) => {
  const { upstream, gateway } = await startBothCaching({ [read]: answer });
  expect(await nameOf(gateway)).toBe(expected);
  const before = upstream.requests.length;
  expect(await nameOf(gateway)).toBe(expected);
  expect(upstream.requests.length).toBe(2 * before);
});

test('nouns without a lifetime are not kept', async () => {
  const { gateway, ...one } = await startCached({
    cache: { ttls: { events: 5 }, staleSeconds: 600, maxBytes: 2 ** 20 },
  });
  await nameOf(gateway);
  await nameOf(gateway);
  expect(one.upstream.requests).toEqual([read, read]);
});

test('a write is read by what comes after it, whatever was kept or under way before', async () => {
  const { gateway, ...one } = await startCached();
  expect(await nameOf(gateway)).toBe('Change 0');
  await gateway.ask(mutation);
  expect(await nameOf(gateway)).toBe('Change 1');
  expect(await nameOf(gateway)).toBe('Change 1');
  expect(one.upstream.requests).toEqual([read, write, read]);
});

test('what is read while a write is under way is used by none that comes after it', async () => {
  const written = Promise.withResolvers<void>();
  let name = 'Old';
  const { upstream, gateway } = await startBothCaching({
    [read]: () => project(1, { name }),
    [write]: async () => {
      await written.promise;
      name = 'New';
      return project(1, { name });
    },
  });
  await nameOf(gateway);
  const writing = gateway.ask(mutation);
  await received(upstream, 2);
  expect(await nameOf(gateway)).toBe('Old');
  written.resolve();
  await writing;
  expect(await nameOf(gateway)).toBe('New');
  expect(upstream.requests).toEqual([read, write, read, read]);
});

test('what is read while a write is under way that no operation waits for any more is not used after that', async () => {
  const arrived = Promise.withResolvers<void>();
  let name = 'Old';
  const { upstream, gateway } = await startBothCaching(
    {
      [read]: () => project(1, { name }),
      [write]: async () => {
        await arrived.promise;
        name = 'New';
        return project(1, { name });
      },
    },
    { operationDeadlineMs: 300 },
  );
  const writing = gateway.ask(mutation);
  await received(upstream, 1);
  expect(await nameOf(gateway)).toBe('Old');
  expect((await writing).errors?.[0]?.extensions['code']).toBe('UPSTREAM_TIMEOUT');
  arrived.resolve();
  await expect.poll(() => name).toBe('New');
  expect(await nameOf(gateway)).toBe('New');
});

test('while the upstream is down known pages are answered until a write fails, and the log says it once', async () => {
  const warned: string[] = [];
  const upstream = await startUpstream({
    [read]: project(1),
    'GET /api/projects/': { count: 1, next: null, previous: null, results: [listedProject(1)] },
  });
  await using gateway = await startCaching(upstream, {
    log: (level, message) => {
      if (level !== 'info') warned.push(message);
    },
  });
  const list = '{ projects(first: 1) { nodes { name } } }';
  await nameOf(gateway);
  await gateway.ask(list);
  await upstream[Symbol.asyncDispose]();
  gateway.pass(60);
  for (let round = 0; round < 30; round += 1) {
    for (const known of [query, list]) {
      const { errors, extensions } = await gateway.ask(known, { extensions: { cost: true } });
      expect([errors, extensions]).toMatchObject([undefined, { cost: { actual: 0, cached: 1, stale: 1 } }]);
    }
    gateway.pass(10);
  }
  for (const unknown of [mutation, query]) {
    const refused = await gateway.ask(unknown);
    expect(refused.errors?.[0]?.extensions['code']).toBe('UPSTREAM_UNAVAILABLE');
  }
  expect(warned).toEqual([...new Set(warned)]);
  expect(warned).not.toEqual([]);
});

test('an answer whose refresh has failed is not read anew with each request', async () => {
  let isFailing = false;
  const { upstream, gateway } = await startBothCaching({
    [read]: () => (isFailing ? reply({ status: 500, body: {} }) : project(1, { name: 'Change 0' })),
  });
  await nameOf(gateway);
  isFailing = true;
  gateway.pass(60);
  for (let round = 0; round < 20; round += 1) expect(await nameOf(gateway)).toBe('Change 0');
  expect(upstream.requests).toEqual([read, read]);
  gateway.pass(60);
  expect(await nameOf(gateway)).toBe('Change 0');
  await expect.poll(() => upstream.requests).toEqual([read, read, read]);
});

test('an answer is given no more once the upstream has given one with no-store in its place', async () => {
  const headers: Record<string, string> = {};
  let name = 'Old';
  const { gateway } = await startBothCaching({ [read]: () => reply({ headers, body: project(1, { name }) }) });
  await nameOf(gateway);
  headers['cache-control'] = 'no-store';
  name = 'New';
  gateway.pass(60);
  expect(await nameOf(gateway)).toBe('Old');
  await expect.poll(() => nameOf(gateway)).toBe('New');
});

test.each([
  [403, 'FORBIDDEN'],
  [404, null],
])('a %i to a refresh ends the use of what it was about', async (status, expected) => {
  let isGone = false;
  const { gateway } = await startCached({}, (name) => (isGone ? refusal(status, 'x', 'No.') : project(1, { name })));
  await nameOf(gateway);
  isGone = true;
  gateway.pass(60);
  expect(await nameOf(gateway)).toBe('Change 0');
  await expect.poll(() => nameOf(gateway)).toBe(expected);
});

test('a request with no-cache reads past the cache and stores, one with no-store does neither', async () => {
  const { gateway, ...one } = await startCached();
  await nameOf(gateway);
  one.change();
  expect(await nameOf(gateway, { headers: { 'cache-control': 'max-age=0, No-Cache' } })).toBe('Change 1');
  expect(await nameOf(gateway)).toBe('Change 1');
  one.change();
  expect(await nameOf(gateway, { headers: { 'cache-control': 'no-store' } })).toBe('Change 2');
  expect(await nameOf(gateway)).toBe('Change 1');
  expect(one.upstream.requests).toEqual([read, read, read]);
});

test('the cost and the trace say what the cache answered, and the metrics count it', async () => {
  const { gateway, ...one } = await startCached({ explain: true });
  const costOf = async (headers = {}): Promise<unknown> =>
    (await gateway.ask(query, { headers, extensions: { cost: true } })).extensions?.['cost'];
  const limit = 150;
  expect(await costOf()).toEqual({ requested: 1, actual: 1, limit, cached: 0, stale: 0 });
  expect(await costOf()).toEqual({ requested: 1, actual: 0, limit, cached: 1, stale: 0 });
  gateway.pass(60);
  expect(await costOf()).toEqual({ requested: 1, actual: 0, limit, cached: 1, stale: 1 });
  await received(one.upstream, 2);
  await expect.poll(() => costOf()).toMatchObject({ stale: 0 });
  expect(await costOf({ 'cache-control': 'no-cache' })).toMatchObject({ actual: 1, cached: 0 });
  const traced = await gateway.ask(query, { extensions: { explain: 'trace' } });
  expect(traced.extensions?.['explain']).toMatchObject({
    calls: [{ path: '/api/projects/1/', cache: 'hit', wave: 1 }],
  });
  const metrics = await metricsOf(gateway);
  const counted = metrics.match(/^gateway_cache_reads_total.*$/gm);
  expect(counted).toContain('gateway_cache_reads_total{noun="projects",result="miss"} 1');
  expect(counted).toContain('gateway_cache_reads_total{noun="projects",result="bypass"} 1');
  expect(counted?.join()).toMatch(/result="hit"} [1-9].*result="stale"} [1-9]/);
  expect(Number(/^gateway_cache_bytes (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(1000);
});

test('the metrics show how old the answers were that were given again', async () => {
  const { gateway, ...one } = await startCached();
  await nameOf(gateway);
  gateway.pass(4);
  await nameOf(gateway);
  gateway.pass(180);
  one.hold();
  await nameOf(gateway);
  const metrics = await metricsOf(gateway);
  one.release();
  const told = (name: string): unknown =>
    new RegExp(`^gateway_cache_answer_age_seconds${name} (.*)$`, 'm').exec(metrics)?.[1];
  const below = ['1', '5', '120', '300', '+Inf'].map((bound) => told(`_bucket\\{le="${bound.replace('+', '\\+')}"\\}`));
  expect(below).toEqual(['0', '1', '1', '2', '2']);
  expect([told('_sum'), told('_count')]).toEqual(['188', '2']);
});

test('what the cache knows of a query that was never asked before counts for it while the budget is nearly spent', async () => {
  const { upstream, gateway } = await startBothCaching(({ target }) => project(Number(target.split('/').at(-2))), {
    budget: budgetOf({ rest: '3/3600' }),
  });
  const ask = (...ids: readonly number[]): Promise<Answer> =>
    gateway.ask(`{ ${ids.map((id) => `p${id}: project(id: ${id}) { createdAt }`).join(' ')} }`);
  await ask(1);
  await ask(2);
  expect((await ask(1, 2, 3)).errors).toBeUndefined();
  expect((await ask(1, 2, 4)).status).toBe(429);
  expect((await ask(3, 2, 1)).errors).toBeUndefined();
  expect(upstream.requests).toEqual([read, 'GET /api/projects/2/', 'GET /api/projects/3/']);
});

test('a refresh that the budget leaves no call for is not counted as refused: its client was answered', async () => {
  const { gateway, ...one } = await startCached({ budget: budgetOf({ rest: '1/3600' }) });
  await nameOf(gateway);
  gateway.pass(60);
  for (let round = 0; round < 3; round += 1) expect(await nameOf(gateway)).toBe('Change 0');
  expect((await gateway.ask('{ project(id: 2) { name } }')).status).toBe(429);
  const metrics = await metricsOf(gateway);
  expect(metrics.match(/^gateway_budget_refusals_total.*$/gm)).toContain(
    'gateway_budget_refusals_total{surface="rest"} 1',
  );
  expect(one.upstream.requests).toEqual([read]);
});

test('a client may cache the answer of a GET by id for as long as all that it was made of is fresh', async () => {
  const { gateway } = await startCached({ persisted: { getMaxAge: 45, automatic: true } });
  const age = async (): Promise<string | null> =>
    (await send(gateway.url, registration(query), { method: 'GET' })).headers.get('cache-control');
  expect(await age()).toBe('private, max-age=45');
  gateway.pass(20);
  expect(await age()).toBe('private, max-age=40');
  gateway.pass(45);
  expect(await age()).toBe('private, max-age=0');
});

test.each([
  ['a request with no-store', {}, { cacheControl: 'no-store' }],
  ['a gateway that cannot reach its Redis', { redisUrl: 'redis://127.0.0.1:1' }, {}],
])('a client may not cache for longer what %s reads past the cache', async (_what, persisted, wire) => {
  const { gateway } = await startCached({ persisted: { getMaxAge: 600, automatic: true, ...persisted } });
  const { headers } = await send(gateway.url, registration(query), { method: 'GET', ...wire });
  expect(headers.get('cache-control')).toBe('private, max-age=60');
});

test('a client may not cache for longer what an operation was given by the read of another one', async () => {
  const { gateway, ...one } = await startCached({ persisted: { getMaxAge: 600, automatic: true } });
  const ask = async (asked: string): Promise<string | null> =>
    (await send(gateway.url, registration(asked), { method: 'GET' })).headers.get('cache-control');
  one.hold();
  const first = ask(query);
  await received(one.upstream, 1);
  const joined = ask('{ project(id: 1) { name upstreamId } }');
  await expect.poll(() => metricsOf(gateway)).toContain('gateway_rest_shared_reads_total 1');
  one.release();
  expect([await first, await joined]).toEqual(['private, max-age=60', 'private, max-age=60']);
  expect(one.upstream.requests).toEqual([read]);
});
