import { expect, test } from 'vitest';
import { budgetOf } from '../support/budgets.ts';
import { type CachingGateway, startCaching } from '../support/cache.ts';
import { listOf } from '../support/lists.ts';
import { listedDashboard, project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const path = '/api/projects/1/dashboards/';

async function startApi(): Promise<Upstream> {
  const upstream = await startUpstream({
    [`GET ${path}`]: listOf([1, 2, 3, 4, 5, 6, 7].map((id) => listedDashboard(id))),
    'GET /api/projects/1/': project(1),
  });
  upstream.release();
  return upstream;
}

function list(argument: string): string {
  return `dashboards${argument} { totalCount nodes { upstreamId } }`;
}

function page(argument: string): string {
  return `{ project(id: 1) { ${list(argument)} } }`;
}

/** A gateway that has read all dashboards as one page and has no call left. */
async function startSpent(upstream: Upstream): Promise<CachingGateway> {
  const gateway = await startCaching(upstream, { budget: budgetOf({ rest: '1/3600' }) });
  expect((await gateway.ask(page('(first: 100)'))).errors).toBeUndefined();
  upstream.reset();
  return gateway;
}

/** What is counted of reads, calls and refusals: each series that is not 0, without the histograms. */
async function counted({ url }: CachingGateway): Promise<readonly string[]> {
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  const names = 'cache_reads_total|cache_answer_age_seconds_count|rest_calls_saved_total|budget_refusals_total';
  const isTold = new RegExp(`^gateway_(?:${names})(?!.* 0$)`);
  const lines = metrics.split('\n').filter((line) => isTold.test(line));
  return lines.map((line) => line.slice('gateway_'.length)).toSorted();
}

test('with a spent budget a query that never ran is answered if the cache has every read of it, each counted once', async () => {
  await using upstream = await startApi();
  await using gateway = await startSpent(upstream);
  const answer = await gateway.ask(page('(first: 3)'), { extensions: { cost: true } });
  expect(answer.errors).toBeUndefined();
  expect(answer.data).toEqual({
    project: { dashboards: { totalCount: 7, nodes: ['1', '2', '3'].map((upstreamId) => ({ upstreamId })) } },
  });
  expect(answer.extensions).toMatchObject({ cost: { actual: 0, cached: 1, stale: 0, budget: [{ remaining: 0 }] } });
  expect(upstream.requests).toEqual([]);
  expect(await counted(gateway)).toEqual([
    'cache_answer_age_seconds_count 1',
    'cache_reads_total{noun="dashboards",result="hit"} 1',
    'cache_reads_total{noun="dashboards",result="miss"} 1',
    'rest_calls_saved_total{by="cache"} 1',
  ]);
});

test('with a spent budget a query is refused if one of its reads is not there, and what was tried is not counted', async () => {
  await using upstream = await startApi();
  await using gateway = await startSpent(upstream);
  gateway.pass(40);
  const before = await counted(gateway);
  const answer = await gateway.ask(`{ project(id: 1) { name ${list('(first: 3)')} } }`);
  expect(answer.status).toBe(429);
  expect(answer).not.toHaveProperty('data');
  expect(upstream.requests).toEqual([]);
  expect(await counted(gateway)).toEqual(['budget_refusals_total{surface="rest"} 1', ...before]);
});

test('with a spent budget a query that bypasses the cache, or whose answer takes long to make, is refused untried', async () => {
  await using upstream = await startApi();
  await using gateway = await startSpent(upstream);
  const many = Array.from({ length: 10 }, (_, index) => `d${index}: dashboards(first: 100) { edges { node { id } } }`);
  const large = `{ project(id: 1) { ${many.join(' ')} } }`;
  expect((await gateway.ask(large)).status).toBe(429);
  expect((await gateway.ask(page('(first: 3)'), { headers: { 'cache-control': 'no-cache' } })).status).toBe(429);
  expect(upstream.requests).toEqual([]);
});
