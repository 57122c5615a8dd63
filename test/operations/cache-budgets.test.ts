import { expect, test } from 'vitest';
import type { CallBudget, Permit } from '../../src/rest/budget/call-budget.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { budgetOf } from '../support/budgets.ts';
import { cacheSettings, startCaching } from '../support/cache.ts';
import { dashboard, project } from '../support/rows.ts';
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

test('what a mutation has read after its write spares no call of an equal one, which has to read it anew', async () => {
  const write = 'PATCH /api/projects/1/dashboards/2/';
  await using upstream = await startUpstream({ [write]: dashboard(2), [readProject]: project(1) });
  await using gateway = await startCaching(upstream, { budget: budgetOf({ rest: '3/600' }) });
  const mutation =
    'mutation { updateDashboard(input: { projectId: 1, id: 2, name: "New" }) { dashboard { project { updatedAt } } } }';
  expect((await gateway.ask(mutation)).errors).toBeUndefined();
  expect((await gateway.ask(mutation)).status).toBe(429);
  expect(upstream.requests).toEqual([write, 'GET /api/projects/1/']);
});

test('a client that joins a refresh has the calls that are left for clients', async () => {
  const read = 'GET /api/projects/1/';
  await using upstream = await startUpstream({ [read]: project(1) }, { hold: 1 });
  const refreshes: ((refusal: UpstreamError) => void)[] = [];
  const permit: Permit = { waited: false, end: () => undefined, giveBack: () => undefined };
  // Only clients may call; what a refresh may is decided later.
  const callBudget: CallBudget = {
    claim: ({ isBackground }) => {
      const { promise, reject } = Promise.withResolvers<Permit>();
      if (isBackground) refreshes.push(reject);
      return { permit: isBackground ? promise : Promise.resolve(permit), leave: () => undefined };
    },
    look: () => new Map(),
    covers: () => true,
    close: () => undefined,
  };
  await using gateway = await startCaching(upstream, { callBudget });
  const query = '{ project(id: 1) { name } }';
  await gateway.ask(query);
  gateway.pass(60);
  expect((await gateway.ask(query)).errors).toBeUndefined();
  const anew = gateway.ask(query, { headers: { 'cache-control': 'no-cache' } });
  const metrics = async (): Promise<string> => (await fetch(new URL('/metrics', gateway.url))).text();
  await expect.poll(metrics).toContain('gateway_rest_shared_reads_total 1\n');
  expect(refreshes).toHaveLength(1);
  refreshes[0]?.(new UpstreamError('RATE_LIMITED', { retryAfter: 600 }));
  expect((await anew).errors).toBeUndefined();
  expect(upstream.requests).toEqual([read, read]);
  expect(await metrics()).toContain('gateway_budget_refusals_total{surface="rest"} 0\n');
});
