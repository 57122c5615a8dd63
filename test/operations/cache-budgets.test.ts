import { expect, test } from 'vitest';
import type { Ledger, WantDecision } from '../../src/rest/ledger.ts';
import { budgetOf } from '../support/budgets.ts';
import { cacheSettings, startBothCaching, startCaching } from '../support/cache.ts';
import { listOf } from '../support/lists.ts';
import { codesOf } from '../support/load.ts';
import { metricsOf } from '../support/metrics.ts';
import { dashboard, listedDashboard, project } from '../support/rows.ts';
import { startTenants } from '../support/tenants.ts';
import { startUpstream } from '../support/upstream.ts';

const readProject = 'GET /api/projects/:id/';

test('what the cache has for one tenant spares no call of another one that reaches other things with the same key', async () => {
  await using upstream = await startUpstream({ [readProject]: ({ params }) => project(Number(params['id'])) });
  const entries = { north: { key: 'phx_shared', projects: ['1', '2'] }, south: { key: 'phx_shared', projects: ['3'] } };
  const options = { cache: cacheSettings, budget: budgetOf({ rest: '2/600' }) };
  await using gateway = await startTenants(upstream, entries, options);
  const query = '{ projects(first: 2) { nodes { updatedAt } } }';
  const statusFor = async (tenant: string): Promise<number> => (await gateway.askAs(tenant, query)).status;
  expect([await statusFor('north'), await statusFor('south'), await statusFor('north')]).toEqual([200, 429, 200]);
  expect(upstream.requests).toEqual(['GET /api/projects/1/', 'GET /api/projects/2/']);
});

test('a mutation whose write was sent keeps what that answered if what it reads then is refused', async () => {
  const write = 'PATCH /api/projects/1/dashboards/2/';
  const { upstream, gateway } = await startBothCaching(
    { [write]: dashboard(2), [readProject]: project(1) },
    { budget: budgetOf({ rest: '3/600' }) },
  );
  const mutation =
    'mutation { updateDashboard(input: { projectId: 1, id: 2, name: "New" }) { dashboard { project { updatedAt } } } }';
  expect((await gateway.ask(mutation)).errors).toBeUndefined();
  const answer = await gateway.ask(mutation);
  expect(answer.status).toBe(200);
  expect(answer.data).toEqual({ updateDashboard: { dashboard: { project: null } } });
  expect(codesOf(answer)).toEqual(['RATE_LIMITED']);
  expect(upstream.requests).toEqual([write, 'GET /api/projects/1/', write]);
});

test('a client that joins a refresh has the calls that are left for clients', async () => {
  const read = 'GET /api/projects/1/';
  await using upstream = await startUpstream({ [read]: project(1) }, { hold: 1 });
  const refreshes: ((decision: WantDecision) => void)[] = [];
  // Only clients may call; what a refresh may is decided later.
  const ledger: Ledger = {
    reserve: (wants) =>
      Promise.all(
        wants.map(async ({ isBackground }): Promise<WantDecision> => {
          if (!isBackground) return { kind: 'begin' };
          return new Promise((resolve) => refreshes.push(resolve));
        }),
      ),
    end: () => undefined,
    look: () => new Map(),
  };
  await using gateway = await startCaching(upstream, { budget: budgetOf({ rest: '10/600' }), ledger });
  const query = '{ project(id: 1) { name } }';
  await gateway.ask(query);
  gateway.pass(60);
  expect((await gateway.ask(query)).errors).toBeUndefined();
  const anew = gateway.ask(query, { headers: { 'cache-control': 'no-cache' } });
  await expect.poll(() => metricsOf(gateway)).toContain('gateway_rest_shared_reads_total 1\n');
  expect(refreshes).toHaveLength(1);
  refreshes[0]?.({ kind: 'wait', turnMs: 600_000, surface: 'rest' });
  expect((await anew).errors).toBeUndefined();
  expect(upstream.requests).toEqual([read, read]);
  expect(await metricsOf(gateway)).toContain('gateway_budget_refusals_total{surface="rest"} 0\n');
});

test('with a spent budget a query is answered if the cache has all that it reads, and is refused if it lacks something', async () => {
  const { upstream, gateway } = await startBothCaching(
    {
      'GET /api/projects/1/dashboards/': listOf([1, 2, 3, 4, 5, 6, 7].map((id) => listedDashboard(id))),
      'GET /api/projects/1/': project(1),
    },
    { budget: budgetOf({ rest: '1/3600' }) },
    { hold: 0 },
  );
  const list = (argument: string): string => `dashboards${argument} { totalCount nodes { upstreamId } }`;
  expect((await gateway.ask(`{ project(id: 1) { ${list('(first: 100)')} } }`)).errors).toBeUndefined();
  upstream.reset();
  const answer = await gateway.ask(`{ project(id: 1) { ${list('(first: 3)')} } }`, { extensions: { cost: true } });
  expect(answer.data).toEqual({
    project: { dashboards: { totalCount: 7, nodes: ['1', '2', '3'].map((upstreamId) => ({ upstreamId })) } },
  });
  expect(answer.extensions).toMatchObject({ cost: { actual: 0, cached: 1, stale: 0, budget: [{ remaining: 0 }] } });
  gateway.pass(40);
  const lacking = await gateway.ask(`{ project(id: 1) { name ${list('(first: 3)')} } }`);
  expect(lacking.status).toBe(429);
  expect(lacking).not.toHaveProperty('data');
  const metrics = await metricsOf(gateway);
  expect(metrics).toContain('gateway_budget_refusals_total{surface="rest"} 1\n');
  const bypassing = { headers: { 'cache-control': 'no-cache' } };
  expect((await gateway.ask(`{ project(id: 1) { ${list('(first: 3)')} } }`, bypassing)).status).toBe(429);
  expect(upstream.requests).toEqual([]);
});
