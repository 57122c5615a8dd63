import { describe, expect, test, vi } from 'vitest';
import { type GatewayOptions } from '../../src/gateway.ts';
import { budgetOf } from '../support/budgets.ts';
import { cacheSettings, startBothCaching, startCaching } from '../support/cache.ts';
import { askPage, at, idsOf as idsIn, type Page } from '../support/connections.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { type JsonObject, notFound, reply } from '../support/replies.ts';
import { event, listedDashboard } from '../support/rows.ts';
import { keyset, tiedEvents } from '../support/ties.ts';
import { startUpstream } from '../support/upstream.ts';

const path = '/api/projects/1/dashboards/';

const routes = {
  [`GET ${path}`]: listOf([1, 2, 3, 4, 5, 6, 7].map((id) => listedDashboard(id))),
  'GET /api/projects/1/events/': { next: null, results: [1, 2, 3].map((id) => event(id)) },
};

function start(options: Partial<GatewayOptions> = {}): ReturnType<typeof startBothCaching> {
  return startBothCaching(routes, options, { hold: 1 });
}

function dashboards(argument: string): string {
  return `{ project(id: 1) { dashboards${argument} { totalCount pageInfo { hasNextPage endCursor } nodes { upstreamId } } } }`;
}

async function idsOf(gateway: TestGateway, argument: string, headers = {}): Promise<unknown> {
  const answer = await gateway.ask(dashboards(argument), { headers });
  const nodes = at(answer, 'data', 'project', 'dashboards', 'nodes');
  return Array.isArray(nodes) ? nodes.map((node) => at(node, 'upstreamId')) : nodes;
}

/** The time within which a refresh must happen on a busy machine. */
const patient = { timeout: 30_000, interval: 2 };

async function untilFresh(gateway: TestGateway, argument: string): Promise<void> {
  const fresh = async (): Promise<void> => {
    const answer = await gateway.ask(dashboards(argument), { extensions: { cost: true } });
    expect(at(answer, 'extensions', 'cost')).toMatchObject({ actual: 0, stale: 0 });
  };
  await vi.waitFor(fresh, patient);
}

test('a page that is part of a larger one in the cache costs no call, and is answered as if it had been read alone', async () => {
  const { upstream, gateway } = await start({ cursorSecret: 'one secret' });
  await using plain = await startGateway(upstream, { cursorSecret: 'one secret' });
  expect(await idsOf(gateway, '(first: 5)')).toEqual(['1', '2', '3', '4', '5']);
  expect(upstream.requests).toEqual([`GET ${path}?limit=5`]);
  for (const argument of ['(first: 3)', '(first: 1)', '(first: 4)']) {
    upstream.reset();
    const answer = await gateway.ask(dashboards(argument));
    expect(upstream.requests).toEqual([]);
    expect(answer.data).toEqual((await plain.ask(dashboards(argument))).data);
  }
  upstream.reset();
  expect((await gateway.ask('{ project(id: 1) { dashboards { totalCount } } }')).errors).toBeUndefined();
  expect(upstream.requests).toEqual([]);
});

test('with a spent budget a larger page in the cache answers what was read alone before', async () => {
  const { upstream, gateway } = await start({ budget: budgetOf({ rest: '2/3600' }) });
  await idsOf(gateway, '(first: 3)');
  gateway.pass(700);
  await idsOf(gateway, '(first: 5)');
  upstream.reset();
  expect(await idsOf(gateway, '(first: 3)')).toEqual(['1', '2', '3']);
  expect((await gateway.ask(dashboards('(first: 6)'))).status).toBe(429);
  expect(upstream.requests).toEqual([]);
});

test('no more rows are asked for than are wanted if the cache has no larger page', async () => {
  const { upstream, gateway } = await start();
  await idsOf(gateway, '(first: 3)');
  await idsOf(gateway, '(first: 5)');
  await gateway.ask('mutation { deleteDashboard(input: { id: 1, projectId: 1 }) { dashboard { id } } }');
  await idsOf(gateway, '(first: 3)');
  expect(upstream.requests.filter((request) => request.startsWith('GET'))).toEqual([
    `GET ${path}?limit=3`,
    `GET ${path}?limit=5`,
    `GET ${path}?limit=3`,
  ]);
});

test('pages of several sizes are refreshed by one call of the largest', async () => {
  const { upstream, gateway } = await start();
  await idsOf(gateway, '(first: 3)');
  await idsOf(gateway, '(first: 5)');
  gateway.pass(30);
  upstream.reset();
  expect(await idsOf(gateway, '(first: 3)')).toEqual(['1', '2', '3']);
  await untilFresh(gateway, '(first: 5)');
  expect(await idsOf(gateway, '(first: 3)')).toEqual(['1', '2', '3']);
  expect(upstream.requests).toEqual([`GET ${path}?limit=5`]);
});

test('a large page that no operation has asked for within the lifetime of its answers is refreshed no more', async () => {
  const { upstream, gateway } = await start({ cache: { ...cacheSettings, staleSeconds: 30 } });
  await idsOf(gateway, '(first: 5)');
  const refreshed: (readonly string[])[] = [];
  for (let age = 30; age <= 120; age += 30) {
    gateway.pass(30);
    upstream.reset();
    expect(await idsOf(gateway, '(first: 3)')).toEqual(['1', '2', '3']);
    await untilFresh(gateway, '(first: 3)');
    refreshed.push([...upstream.requests]);
  }
  const [large, small] = [5, 3].map((size) => [`GET ${path}?limit=${size}`]);
  expect(refreshed).toEqual([large, large, small, small]);
});

test('a page is refreshed in no size that only another key has asked for', async () => {
  const { upstream, gateway } = await start();
  await idsOf(gateway, '(first: 3)');
  await idsOf(gateway, '(first: 5)', { authorization: 'Bearer phx_other' });
  gateway.pass(30);
  upstream.reset();
  await idsOf(gateway, '(first: 3)');
  await untilFresh(gateway, '(first: 3)');
  expect(upstream.requests).toEqual([`GET ${path}?limit=3`]);
});

test('of pages that are too old, the newest one is given', async () => {
  const rows = [1, 2, 3, 4, 5].map((id) => listedDashboard(id));
  const { gateway } = await startBothCaching({ [`GET ${path}`]: listOf(rows) }, {}, { hold: 1 });
  await idsOf(gateway, '(first: 2)');
  gateway.pass(10);
  await idsOf(gateway, '(first: 4)');
  rows.shift();
  gateway.pass(10);
  await idsOf(gateway, '(first: 3)', { 'cache-control': 'no-cache' });
  gateway.pass(30);
  expect(await idsOf(gateway, '(first: 2)')).toEqual(['2', '3']);
});

test('a list that is found gone in another size is given no more in any that was known', async () => {
  let isGone = false;
  const list = listOf([1, 2, 3, 4, 5].map((id) => listedDashboard(id)));
  const { upstream, gateway } = await startBothCaching(
    { [`GET ${path}`]: (request) => (isGone ? notFound : list(request)) },
    { cache: { ...cacheSettings, staleSeconds: 30 } },
    { hold: 1 },
  );
  await idsOf(gateway, '(first: 5)');
  for (let round = 0; round < 2; round += 1) {
    gateway.pass(30);
    await idsOf(gateway, '(first: 3)');
    await untilFresh(gateway, '(first: 3)');
  }
  isGone = true;
  gateway.pass(30);
  expect(await idsOf(gateway, '(first: 3)')).toEqual(['1', '2', '3']);
  await expect
    .poll(async (): Promise<unknown> => (await gateway.ask(dashboards('(first: 3)'))).data, patient)
    .toEqual({ project: null });
  expect(upstream.requests.slice(0, 4)).toEqual([5, 5, 5, 3].map((size) => `GET ${path}?limit=${size}`));
});

test('of large pages in the cache only what an operation wants of them counts for it', async () => {
  const rows = Array.from({ length: 100 }, (_, id) => listedDashboard(id, { description: 'x'.repeat(20_000) }));
  await using upstream = await startUpstream({ 'GET /api/projects/:id/dashboards/': listOf(rows) }, { hold: 1 });
  // An operation may then keep 16 MiB of the upstream's answers.
  await using gateway = await startCaching(upstream, { maxAnswerBytes: 2 ** 20 });
  const projects = Array.from({ length: 12 }, (_, index) => index + 1);
  for (const id of projects) {
    const { errors } = await gateway.ask(`{ project(id: ${id}) { dashboards(first: 100) { nodes { upstreamId } } } }`);
    expect(errors).toBeUndefined();
  }
  upstream.reset();
  const fields = projects.map((id) => `p${id}: project(id: ${id}) { dashboards(first: 1) { nodes { upstreamId } } }`);
  const { errors } = await gateway.ask(`{ ${fields.join(' ')} }`);
  expect([errors, upstream.requests]).toEqual([undefined, []]);
});

test('a request with no-cache reads as much as it wants', async () => {
  const { upstream, gateway } = await start();
  await idsOf(gateway, '(first: 5)');
  await idsOf(gateway, '(first: 3)', { 'cache-control': 'no-cache' });
  expect(upstream.requests).toEqual([`GET ${path}?limit=5`, `GET ${path}?limit=3`]);
});

test('a page of another place of the list, of another filter or of another key is none of it', async () => {
  const { upstream, gateway } = await start();
  const events = (argument: string): string => `{ project(id: 1) { events(${argument}) { nodes { upstreamId } } } }`;
  await idsOf(gateway, '(first: 5)');
  await gateway.ask(events('first: 3'));
  upstream.reset();
  await idsOf(gateway, '(first: 3)', { authorization: 'Bearer phx_other' });
  await gateway.ask(events('first: 2, filter: { event: "signed up" }'));
  await gateway.ask(events('first: 2'));
  expect(upstream.requests).toEqual([`GET ${path}?limit=3`, 'GET /api/projects/1/events/?limit=2&event=signed%20up']);
});

describe('events that are cut from a larger page in the cache', () => {
  const place = { field: 'events', under: 'project(id: 1)' } as const;

  /** Walks a list of which a page of `known` rows is in the cache at first, while an event arrives with each page. */
  async function walked(rows: JsonObject[], known: number, size: number): Promise<readonly string[]> {
    await using upstream = await startUpstream({ 'GET /api/projects/1/events/': keyset(rows) }, { hold: 1 });
    await using gateway = await startCaching(upstream);
    await askPage(gateway, place, { first: known });
    const found: string[] = [];
    let after: string | null = null;
    for (let arrived = 0; arrived < 30; arrived += 1) {
      const page: Page = await askPage(gateway, place, { first: size, after });
      found.push(...page.rows);
      if (!page.hasNextPage) return found;
      after = page.endCursor;
      rows.unshift(event(100 + arrived, { timestamp: `2024-05-01T10:01:${10 + arrived}Z` }));
      gateway.pass(700);
    }
    return found;
  }

  test.each([
    ['the end of the list', 50],
    ['more of the list', 9],
  ])('are visited once each although new ones arrive meanwhile, with %s behind the page', async (_what, known) => {
    for (const [before, tied] of [
      [0, 5],
      [2, 5],
      [3, 0],
    ] as const) {
      for (const size of [1, 2, 3, 4]) {
        const rows = tiedEvents(before, tied, 6);
        const expected = idsIn(rows);
        expect([before, tied, size, ...(await walked(rows, known, size))]).toEqual([before, tied, size, ...expected]);
      }
    }
  });
});

test('tables, as rows and as text, are read in each size: what an upstream says of a smaller one is not known', async () => {
  const table = (limit: string): string =>
    `id\r\n${Array.from({ length: Number(limit) }, (_, id) => `${id}\r\n`).join('')}`;
  const { upstream, gateway } = await startBothCaching({
    'GET /api/projects/1/events/': ({ query }) => {
      const limit = query.get('limit') ?? '';
      if (query.get('format') === 'csv') return reply({ headers: { 'content-type': 'text/csv' }, body: table(limit) });
      return { next: null, results: Array.from({ length: Number(limit) }, (_, id) => [id]) };
    },
  });
  const ask = async (field: string): Promise<unknown> => (await gateway.ask(`{ project(id: 1) { ${field} } }`)).data;
  const tables: readonly ((first: number) => string)[] = [
    (first) => `eventRows(first: ${first}, select: ["id"]) { rows hasNextPage }`,
    (first) => `eventsCsv(first: ${first}, select: ["id"]) { csv }`,
  ];
  for (const tableOf of tables) {
    upstream.reset();
    const answers: unknown[] = [];
    for (const first of [3, 2, 3, 2]) answers.push(await ask(tableOf(first)));
    expect(answers.slice(2)).toEqual(answers.slice(0, 2));
    expect(answers[1]).not.toEqual(answers[0]);
    expect(upstream.requests).toHaveLength(2);
  }
});
