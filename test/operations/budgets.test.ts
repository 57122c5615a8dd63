import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { BudgetSettings } from '../../src/rest/budget/settings.ts';
import { startBoth } from '../support/both.ts';
import { budgetOf } from '../support/budgets.ts';
import { listOf } from '../support/lists.ts';
import { as, codesOf } from '../support/load.ts';
import { metricsOf } from '../support/metrics.ts';
import { reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, event, listedDashboard, project } from '../support/rows.ts';
import { startTenants } from '../support/tenants.ts';
import { startUpstream } from '../support/upstream.ts';

const routes: Routes = {
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'PATCH /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/dashboards/': listOf([1, 2].map((id) => listedDashboard(id))),
  'GET /api/projects/:id/dashboards/:dashboard/': ({ params }) => dashboard(Number(params['dashboard'])),
  'GET /api/projects/:id/events/': () => ({ next: null, results: [event(1)] }),
};

function startLimited(budget: BudgetSettings, all: Routes = routes): ReturnType<typeof startBoth> {
  return startBoth(all, { budget }, { hold: 0 });
}

function one(id: number): string {
  return `{ project(id: ${id}) { name } }`;
}

function several(...ids: readonly number[]): string {
  return `{ ${ids.map((id) => `p${id}: project(id: ${id}) { name }`).join(' ')} }`;
}

const write = 'mutation { updateProject(input: { id: "1", name: "New" }) { project { name } } }';
const events = '{ project(id: 1) { events(first: 1) { nodes { upstreamId } } } }';

describe('An operation whose budget is spent', () => {
  test('is refused with HTTP 429 before its first call, with the time to come back', async () => {
    const { upstream, gateway } = await startLimited(budgetOf({ rest: '3/60' }));
    expect(codesOf(await gateway.ask(several(1, 2)))).toEqual([]);
    const { status, headers, body, errors } = await gateway.ask(several(3, 4));
    expect(status).toBe(429);
    const retryAfter = Number(headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(body).not.toContain('"data"');
    expect(errors).toEqual([
      {
        message: `The operation needs at least 2 REST calls of the surface rest, which can be made in ${retryAfter} seconds at the earliest.`,
        extensions: { code: 'RATE_LIMITED', retryAfter },
      },
    ]);
    expect(upstream.requests).toHaveLength(2);
    expect(codesOf(await gateway.ask(one(3)))).toEqual([]);
  });

  test('is refused without Retry-After if no window can ever hold what it needs', async () => {
    const { upstream, gateway } = await startLimited(budgetOf({ rest: '1/60,20/3600' }));
    const { status, headers, errors } = await gateway.ask(several(1, 2));
    expect([status, headers.get('retry-after')]).toEqual([429, null]);
    expect(errors).toEqual([
      {
        message:
          'The operation needs at least 2 REST calls of the surface rest, more than the 1 in 60 seconds that it may make.',
        extensions: { code: 'RATE_LIMITED' },
      },
    ]);
    expect(upstream.requests).toEqual([]);
  });

  test('is refused for the calls that it needs at once, of all surfaces', async () => {
    const { upstream, gateway } = await startLimited(budgetOf({ rest: '10/60', events: '1/60' }));
    expect(codesOf(await gateway.ask(events))).toEqual([]);
    upstream.reset();
    const both = `{ project(id: 1) { name events(first: 2) { nodes { upstreamId } } } }`;
    const { status, errors } = await gateway.ask(both);
    expect([status, upstream.requests]).toEqual([429, []]);
    expect(errors?.[0]?.message).toMatch(/^The operation needs at least 1 REST call of the surface events, which/);
    // The call that it would have made beside that is left.
    const { extensions } = await gateway.ask(one(1), { extensions: { cost: true } });
    expect(extensions).toMatchObject({ cost: { budget: [{ remaining: 9 }] } });
  });

  test('is refused if it is a mutation, and nothing was sent', async () => {
    const { upstream, gateway } = await startLimited(budgetOf({ rest: '1/60' }));
    expect(codesOf(await gateway.ask(one(1)))).toEqual([]);
    const { status, body } = await gateway.ask(write);
    expect(status).toBe(429);
    expect(body).not.toContain('"data"');
    expect(upstream.requests).toEqual(['GET /api/projects/1/']);
  });

  test('leaves other surfaces and other keys their own', async () => {
    const { upstream, gateway } = await startLimited(budgetOf({ rest: '1/60', events: '1/60' }));
    expect(codesOf(await gateway.ask(one(1)))).toEqual([]);
    expect(codesOf(await gateway.ask(one(1)))).toEqual(['RATE_LIMITED']);
    expect(codesOf(await gateway.ask(events))).toEqual([]);
    expect(codesOf(await gateway.ask(one(1), as('phx_other')))).toEqual([]);
    expect(upstream.requests).toHaveLength(3);
  });

  test('leaves nothing to other keys if the budget is that of all keys', async () => {
    const { upstream, gateway } = await startLimited(budgetOf({ rest: '1/60' }, { scope: 'all' }));
    expect(codesOf(await gateway.ask(one(1)))).toEqual([]);
    expect(codesOf(await gateway.ask(one(1), as('phx_other')))).toEqual(['RATE_LIMITED']);
    expect(upstream.requests).toHaveLength(1);
  });

  test('is counted', async () => {
    const { gateway } = await startLimited(budgetOf({ rest: '1/60' }));
    for (const id of [1, 2, 3]) await gateway.ask(one(id));
    const metrics = await metricsOf(gateway);
    expect(metrics).toContain('gateway_budget_refusals_total{surface="rest"} 2\n');
    expect(metrics).toContain('gateway_budget_refusals_total{surface="events"} 0\n');
    expect(metrics).toContain('gateway_budget_waits_total{surface="rest"} 0\n');
  });
});

async function leftSharesOf({ url }: { readonly url: string }): Promise<readonly string[]> {
  const metrics = await metricsOf({ url });
  return metrics.match(/^gateway_budget_left_ratio.*$/gm) ?? [];
}

test('the metrics show the least share of a window that calls have left, whichever key they had', async () => {
  const { gateway } = await startLimited(budgetOf({ rest: '4/60,100/3600', events: '10/60' }));
  expect(await leftSharesOf(gateway)).toEqual([]);
  for (const id of [1, 2]) await gateway.ask(one(id));
  await gateway.ask(one(3), as('phx_other'));
  expect(await leftSharesOf(gateway)).toEqual(['gateway_budget_left_ratio{surface="rest"} 0.5']);
  for (const id of [1, 2, 3]) await gateway.ask(one(id));
  expect(await leftSharesOf(gateway)).toEqual(['gateway_budget_left_ratio{surface="rest"} 0']);
});

test('the metrics show the least share of a window of a tenant, though each of its users has more left', async () => {
  await using upstream = await startUpstream(routes, { hold: 0 });
  const entries = { acme: { key: 'phx_acme', projects: ['1'] } };
  await using gateway = await startTenants(upstream, entries, { budget: budgetOf({ rest: '10/60' }, { share: 50 }) });
  for (const sub of ['ada', 'bob', 'cleo', 'dora'])
    await gateway.ask(one(1), { headers: await gateway.headersOf('acme', { claims: { sub } }) });
  expect(await leftSharesOf(gateway)).toEqual(['gateway_budget_left_ratio{surface="rest"} 0.6']);
});

describe('A call that finds nothing left', () => {
  test('waits if its turn comes before the deadline', async () => {
    const at: number[] = [];
    const { gateway } = await startLimited(budgetOf({ rest: '2/1' }), {
      'GET /api/projects/:id/': ({ params }) => {
        at.push(performance.now());
        return project(Number(params['id']));
      },
    });
    const answers = await Promise.all([1, 2, 3, 4, 5].map((id) => gateway.ask(one(id))));
    expect(answers.flatMap(codesOf)).toEqual([]);
    // Of three calls the last comes a window after the first has been answered.
    const gaps = at.slice(2).map((time, index) => time - (at[index] ?? 0));
    expect(gaps.filter((gap) => gap < 1000)).toEqual([]);
    const metrics = await metricsOf(gateway);
    expect(metrics).toContain('gateway_budget_waits_total{surface="rest"} 3\n');
  });

  test('fails if its turn comes later, with those of its wave, and what the operation has read is answered', async () => {
    const { upstream, gateway } = await startLimited(budgetOf({ rest: '2/60' }));
    const answer = await gateway.ask('{ project(id: 1) { dashboards { nodes { name tiles } } } }');
    expect(answer.status).toBe(200);
    expect(codesOf(answer)).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
    expect(answer.errors?.[0]?.extensions['upstream']).toEqual({ retryAfter: 60 });
    expect(answer.data).toMatchObject({ project: { dashboards: { nodes: [{ name: 'Dashboard 1' }, {}] } } });
    expect(upstream.requests).toHaveLength(1);
  });

  test('waits at most half of its time if it is a write', async () => {
    const options = { budget: budgetOf({ rest: '1/2' }), operationDeadlineMs: 3000 };
    const { upstream, gateway } = await startBoth(routes, options, { hold: 0 });
    expect(codesOf(await gateway.ask(one(1)))).toEqual([]);
    expect(codesOf(await gateway.ask(write))).toEqual(['RATE_LIMITED']);
    expect(codesOf(await gateway.ask(one(2)))).toEqual([]);
    expect(upstream.requests).toEqual(['GET /api/projects/1/', 'GET /api/projects/2/']);
  });

  test('waits no longer than its client', async () => {
    const { upstream, gateway } = await startLimited(budgetOf({ rest: '1/1' }));
    await gateway.ask(one(1));
    const leaving = new AbortController();
    const left = gateway.ask(one(2), { signal: leaving.signal }).catch(() => 'left');
    await delay(50);
    leaving.abort();
    expect(await left).toBe('left');
    expect(codesOf(await gateway.ask(one(3)))).toEqual([]);
    expect(upstream.requests).toEqual(['GET /api/projects/1/', 'GET /api/projects/3/']);
  });
});

test('what is read again counts again, and what is shared counts once', async () => {
  let fails = true;
  const { upstream, gateway } = await startLimited(budgetOf({ rest: '10/60' }), {
    ...routes,
    'GET /api/projects/2/': () => {
      if (!fails) return project(2);
      fails = false;
      return reply({ status: 503 });
    },
  });
  const query = '{ project(id: 1) { name } }';
  await Promise.all([gateway.ask(query), gateway.ask(`${query} `), gateway.ask(`# other\n${query}`)]);
  expect(upstream.requests).toHaveLength(1);
  await gateway.ask(one(2));
  const { extensions } = await gateway.ask(one(3), { extensions: { cost: true } });
  expect(upstream.requests).toHaveLength(4);
  expect(extensions).toMatchObject({ cost: { budget: [{ remaining: 6 }] } });
});

test('the cost of an operation says what is left of the windows of the surfaces in its plan', async () => {
  const { gateway } = await startLimited(budgetOf({ rest: '10/60,100/3600', events: '5/60', values: '5/60' }));
  const query = '{ project(id: 1) { name events(first: 1) { nodes { upstreamId } } } }';
  const { extensions } = await gateway.ask(query, { extensions: { cost: true } });
  expect(extensions).toEqual({
    cost: {
      requested: 2,
      actual: 2,
      limit: 150,
      budget: [
        { surface: 'events', window: 60, limit: 5, remaining: 4, resetsIn: 60 },
        { surface: 'rest', window: 60, limit: 10, remaining: 9, resetsIn: 60 },
        { surface: 'rest', window: 3600, limit: 100, remaining: 99, resetsIn: 3600 },
      ],
    },
  });
});

test('the cost of an operation names a surface of its plan that was not called in the end', async () => {
  const { gateway } = await startLimited(budgetOf({ rest: '10/60', events: '5/60' }), {
    'GET /api/projects/': listOf([]),
  });
  const query = '{ projects { nodes { events(first: 1) { nodes { upstreamId } } } } }';
  const { extensions } = await gateway.ask(query, { extensions: { cost: true } });
  expect(extensions).toMatchObject({
    cost: {
      actual: 1,
      budget: [
        { surface: 'events', remaining: 5 },
        { surface: 'rest', remaining: 9 },
      ],
    },
  });
});

test('a refusal says what is left to a client that asks', async () => {
  const { gateway } = await startLimited(budgetOf({ rest: '1/60' }));
  await gateway.ask(one(1));
  const { status, extensions } = await gateway.ask(one(2), { extensions: { cost: true } });
  expect(status).toBe(429);
  expect(extensions).toMatchObject({ cost: { actual: 0, budget: [{ surface: 'rest', remaining: 0, resetsIn: 60 }] } });
});

test('one user of a tenant has a share of each window, and the tenant has all of it', async () => {
  await using upstream = await startUpstream(routes, { hold: 0 });
  const entries = { acme: { key: 'phx_acme', projects: ['1', '2'] } };
  const budget = budgetOf({ rest: '10/60' }, { share: 30 });
  await using gateway = await startTenants(upstream, entries, { budget });
  const askAs = async (sub: string): Promise<unknown[]> => {
    const headers = await gateway.headersOf('acme', { claims: { sub } });
    return codesOf(await gateway.ask(one(1), { headers }));
  };
  for (const sub of ['ada', 'ada', 'ada', 'bob', 'bob']) expect([sub, await askAs(sub)]).toEqual([sub, []]);
  expect(await askAs('ada')).toEqual(['RATE_LIMITED']);
  expect(await askAs('bob')).toEqual([]);
  expect(await askAs('bob')).toEqual(['RATE_LIMITED']);
  for (const sub of ['cleo', 'cleo', 'cleo', 'dora']) expect([sub, await askAs(sub)]).toEqual([sub, []]);
  expect(await askAs('dora')).toEqual(['RATE_LIMITED']);
  expect(upstream.requests).toHaveLength(10);
});
