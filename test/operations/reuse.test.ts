import { expect, test } from 'vitest';
import { type GatewayOptions } from '../../src/gateway.ts';
import { startBoth } from '../support/both.ts';
import { budgetOf } from '../support/budgets.ts';
import { cacheSettings, startBothCaching } from '../support/cache.ts';
import { at } from '../support/connections.ts';
import { key, type Request, type TestGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { metricsOf } from '../support/metrics.ts';
import { registration, search, send } from '../support/persisted.ts';
import { type RawResponse, sendRaw } from '../support/raw-http.ts';
import { notFound } from '../support/replies.ts';
import { type Routes } from '../support/routes.ts';
import { listedDashboard, project } from '../support/rows.ts';
import { startBothTenants } from '../support/tenants.ts';

const query = '{ project(id: 1) { name dashboards(first: 2) { nodes { name } } } }';
const [row, page] = ['GET /api/projects/1/', 'GET /api/projects/1/dashboards/?limit=2'];
/** Reads the same row in another operation. */
const other = '{ project(id: 1) { timezone } }';

/** A project whose name says how often it was changed and who reads it; without it, there is none. */
function createProject() {
  const state = { changes: 0, isGone: false };
  const routes: Routes = {
    [row]: ({ headers }) =>
      state.isGone ? notFound : project(1, { name: `${headers.authorization} ${state.changes}` }),
    'GET /api/projects/1/dashboards/': listOf([1, 2, 3].map((id) => listedDashboard(id))),
    'PATCH /api/projects/1/': () => {
      state.changes += 1;
      return project(1);
    },
  };
  return { state, routes };
}

/** Starts a gateway that caches, over an upstream with the project of `createProject`. */
async function startCached(options: Partial<GatewayOptions> = {}) {
  const { state, routes } = createProject();
  return { state, ...(await startBothCaching(routes, options, { hold: 1 })) };
}

async function reusedBy(gateway: TestGateway): Promise<number> {
  return Number(/^gateway_reused_operations_total (\d+)/m.exec(await metricsOf(gateway))?.[1]);
}

/** Has the answer of the query kept: it is read once, and made once of what was read. */
async function keep(gateway: TestGateway, request?: Request): Promise<void> {
  for (let round = 0; round < 2; round += 1) expect((await gateway.ask(query, request)).errors).toBeUndefined();
  expect(await reusedBy(gateway)).toBe(0);
}

/** The change that the answer of the query shows, and whether it was executed for that. */
async function ask(
  gateway: TestGateway,
  request?: Request,
): Promise<readonly [change: number, how: 'executed' | 'reused']> {
  const before = await reusedBy(gateway);
  const answer = await gateway.ask(query, request);
  const name = at(answer, 'data', 'project', 'name');
  return [Number(String(name).split(' ').at(-1)), (await reusedBy(gateway)) === before ? 'executed' : 'reused'];
}

test('a query that is asked again while all that it reads is fresh is answered without being executed', async () => {
  const logged: unknown[] = [];
  const { gateway, ...one } = await startCached({
    log: (_level, message, fields) => void (message === 'operation' && logged.push(fields)),
  });
  const bodies: string[] = [];
  for (let round = 0; round < 4; round += 1) bodies.push((await gateway.ask(query)).body);
  expect(await reusedBy(gateway)).toBe(2);
  expect(new Set(bodies).size).toBe(1);
  expect(one.upstream.requests.toSorted()).toEqual([row, page]);
  expect(logged).toMatchObject([2, 0, 0, 0].map((calls) => ({ calls, codes: [] })));
});

test('an answer is used until the first thing that it was made of is too old, and one of newer things after that', async () => {
  const { gateway, ...one } = await startCached();
  await keep(gateway);
  one.state.changes = 1;
  gateway.pass(29);
  expect(await ask(gateway)).toEqual([0, 'reused']);
  gateway.pass(1);
  expect(await ask(gateway)).toEqual([0, 'executed']);
  gateway.pass(30);
  await ask(gateway);
  await expect.poll(async () => (await ask(gateway))[0]).toBe(1);
  await ask(gateway);
  expect(await ask(gateway)).toEqual([1, 'reused']);
});

test('an answer that was made of what is too old is used by no other query', async () => {
  const rows = [listedDashboard(1, { name: 'Old' })];
  const { gateway } = await startBothCaching({ [row]: project(1), 'GET /api/projects/1/dashboards/': listOf(rows) });
  await keep(gateway);
  rows[0] = listedDashboard(1, { name: 'New' });
  gateway.pass(30);
  const asked = async (): Promise<unknown> =>
    at(await gateway.ask(query), 'data', 'project', 'dashboards', 'nodes', 0, 'name');
  expect(await asked()).toBe('Old');
  await expect.poll(asked).toBe('New');
});

test('no answer from before a write of its key is used after it', async () => {
  const { gateway } = await startCached();
  await keep(gateway);
  await gateway.ask('mutation { updateProject(input: { id: 1, name: "New" }) { project { id } } }');
  expect(await ask(gateway)).toEqual([1, 'executed']);
  expect(await ask(gateway)).toEqual([1, 'executed']);
  expect(await ask(gateway)).toEqual([1, 'reused']);
});

test('an answer is used no more once another operation has read a part of it anew, or has found it gone', async () => {
  const { gateway, ...one } = await startCached();
  const anew = { headers: { 'cache-control': 'no-cache' } };
  await keep(gateway);
  one.state.changes = 1;
  await gateway.ask(other, anew);
  expect(await ask(gateway)).toEqual([1, 'executed']);
  expect(await ask(gateway)).toEqual([1, 'reused']);
  one.state.isGone = true;
  await gateway.ask(other, anew);
  const before = await reusedBy(gateway);
  for (let round = 0; round < 3; round += 1) expect((await gateway.ask(query)).data).toEqual({ project: null });
  expect(await reusedBy(gateway)).toBe(before);
});

test('a page that was cut from a larger one is used no more once it has been read anew by itself, nor is the larger one', async () => {
  const rows = [1, 2, 3].map((id) => listedDashboard(id, { name: 'Old' }));
  const { gateway } = await startBothCaching({ 'GET /api/projects/1/dashboards/': listOf(rows) });
  const first = (count: number): string => `{ project(id: 1) { dashboards(first: ${count}) { nodes { name } } } }`;
  const nameIn = async (count: number, headers = {}): Promise<unknown> =>
    at(await gateway.ask(first(count), { headers }), 'data', 'project', 'dashboards', 'nodes', 0, 'name');
  await nameIn(3);
  expect([await nameIn(2), await nameIn(2), await reusedBy(gateway)]).toEqual(['Old', 'Old', 1]);
  rows[0] = listedDashboard(1, { name: 'New' });
  expect(await nameIn(2, { 'cache-control': 'no-cache' })).toBe('New');
  expect([await nameIn(2), await nameIn(3)]).toEqual(['New', 'New']);
});

test('no other key is given the answer, and no other query', async () => {
  const { gateway } = await startCached();
  await keep(gateway);
  const headers = { authorization: 'Bearer phx_other' };
  expect((await gateway.ask(query, { headers })).data).toMatchObject({ project: { name: 'Bearer phx_other 0' } });
  expect((await gateway.ask(query.replace('name', 'timezone'))).data).toMatchObject({
    project: { timezone: 'Europe/Berlin' },
  });
  expect(await reusedBy(gateway)).toBe(0);
});

test('of tenants that share a key, none is given the answer of another one, and none an answer from before its reach', async () => {
  const north = { key: 'phx_shared', projects: ['1'] };
  const south = { key: 'phx_shared', projects: ['2'] };
  const { routes } = createProject();
  const { gateway } = await startBothTenants(routes, { north, south }, { cache: cacheSettings });
  const asked = async (tenant: string): Promise<unknown> => (await gateway.askAs(tenant, query)).data;
  const seen = { project: { name: 'Bearer phx_shared 0' } };
  for (let round = 0; round < 3; round += 1) expect(await asked('north')).toMatchObject(seen);
  expect(await reusedBy(gateway)).toBe(1);
  expect(await asked('south')).toEqual({ project: null });
  gateway.take({ north: south, south });
  expect(await asked('north')).toEqual({ project: null });
  expect(await reusedBy(gateway)).toBe(1);
});

test.each([
  ['wants no answer of the cache', { headers: { 'cache-control': 'no-cache' } }, []],
  ['wants nothing of the cache', { headers: { 'cache-control': 'no-store' } }, []],
  ['is told the cost', { extensions: { cost: true } }, ['cost']],
  ['is told the calls', { extensions: { explain: 'trace' } }, ['explain']],
] as const)('the operation of a request that %s is executed', async (_what, request, told) => {
  const { gateway } = await startCached({ explain: true });
  await keep(gateway);
  const { extensions } = await gateway.ask(query, request);
  expect([Object.keys(extensions ?? {}), await reusedBy(gateway)]).toEqual([told, 0]);
});

test.each([
  ['of a noun that is not kept', { ttls: { projects: 60 } }, query],
  ['of what is not there', {}, '{ project(id: 1) { name } missing: project(id: 2) { name } }'],
  ['without a read', {}, '{ __typename }'],
  ['with an error', {}, '{ project(id: 1) { name dashboards(after: "x") { nodes { name } } } }'],
] as const)('an answer %s is made anew each time', async (_what, cache, asked) => {
  const { gateway } = await startCached({ cache: { ...cacheSettings, ...cache } });
  for (let round = 0; round < 3; round += 1) await gateway.ask(asked);
  expect(await reusedBy(gateway)).toBe(0);
});

test('without a cache every query is executed', async () => {
  const { upstream, gateway } = await startBoth(createProject().routes);
  for (let round = 0; round < 3; round += 1) expect((await gateway.ask(query)).errors).toBeUndefined();
  expect(upstream.requests).toHaveLength(6);
});

test('a client may cache an answer that is used again for as long as the first thing that it was made of is fresh', async () => {
  const { gateway } = await startCached({ persisted: { getMaxAge: 600, automatic: true } });
  const age = async (): Promise<string | null> =>
    (await send(gateway.url, registration(query), { method: 'GET' })).headers.get('cache-control');
  await age();
  gateway.pass(4);
  expect([await age(), await age()]).toEqual(Array(2).fill('private, max-age=26'));
  gateway.pass(20);
  expect(await age()).toBe('private, max-age=6');
  expect(await reusedBy(gateway)).toBe(2);
});

test('a client that has the answer of a GET by id gets 304 without a body, and nothing is read for that', async () => {
  const { gateway, ...one } = await startCached({ persisted: { getMaxAge: 600, automatic: true } });
  const get = async (known: string): Promise<RawResponse> =>
    // Not by fetch, which adds `Cache-Control: no-cache` to such requests.
    sendRaw(gateway.url, {
      method: 'GET',
      path: `/graphql?${search(registration(query))}`,
      headers: ['authorization', `Bearer ${key}`, 'if-none-match', known],
    });
  await get('');
  const first = await get('W/"other"');
  const etag = String(first.headers['etag']);
  expect([first.status, etag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{27}"$/)]);
  for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const { status, body, headers } = await get(known);
    expect([status, body, headers['content-type']]).toEqual([304, '', undefined]);
    for (const name of ['etag', 'vary', 'cache-control']) expect(headers[name]).toBe(first.headers[name]);
  }
  expect(one.upstream.requests).toHaveLength(2);
  expect(await reusedBy(gateway)).toBe(4);
  await gateway.ask('mutation { updateProject(input: { id: 1, name: "New" }) { project { id } } }');
  expect((await get(etag)).status).toBe(200);
  expect((await send(gateway.url, registration(query))).headers.get('etag')).toBeNull();
});

test('what an answer that is used again was made of counts as read each time, and as old as it is', async () => {
  const { gateway } = await startCached();
  await keep(gateway);
  gateway.pass(4);
  for (let round = 0; round < 3; round += 1) expect(await ask(gateway)).toEqual([0, 'reused']);
  const metrics = await metricsOf(gateway);
  for (const noun of ['projects', 'dashboards']) {
    expect(metrics).toContain(`gateway_cache_reads_total{noun="${noun}",result="hit"} 4`);
    expect(metrics).toContain(`gateway_cache_reads_total{noun="${noun}",result="miss"} 1`);
  }
  expect(metrics).toContain('gateway_rest_calls_saved_total{by="cache"} 8');
  expect(metrics).toContain('gateway_cache_answer_age_seconds_sum 24');
  expect(metrics).toContain('gateway_operations_total{code="none"} 5');
});

test('while the budget is spent, an answer that needs no call is given', async () => {
  const { gateway } = await startCached({ budget: budgetOf({ rest: '2/3600' }) });
  await keep(gateway);
  expect(await ask(gateway)).toEqual([0, 'reused']);
  expect((await gateway.ask('{ project(id: 2) { name } }')).status).toBe(429);
});

test('a large answer is given again whole, and one that would take too much memory is made anew', async () => {
  const rows = Array.from({ length: 100 }, (_, id) =>
    listedDashboard(id, { description: 'ж'.repeat(id % 2 === 0 ? 500 : 700) }),
  );
  const { gateway } = await startBothCaching(
    { 'GET /api/projects/1/dashboards/': listOf(rows) },
    { cache: { ...cacheSettings, maxBytes: 8 * 2 ** 20 } },
  );
  const fields = (count: number): string =>
    Array.from({ length: count }, (_, index) => `d${index}: description`).join(' ');
  const asked = (count: number): string =>
    `{ project(id: 1) { dashboards(first: 100) { nodes { ${fields(count)} } } } }`;
  for (const [count, reused] of [
    [1, 1],
    [8, 0],
  ] as const) {
    const before = await reusedBy(gateway);
    const bodies: string[] = [];
    for (let round = 0; round < 3; round += 1) bodies.push((await gateway.ask(asked(count))).body);
    expect(new Set(bodies).size).toBe(1);
    expect((await reusedBy(gateway)) - before).toBe(reused);
  }
});
