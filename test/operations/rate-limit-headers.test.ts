import { describe, expect, test } from 'vitest';
import { type GatewayOptions } from '../../src/gateway.ts';
import { startBoth } from '../support/both.ts';
import { budgetOf } from '../support/budgets.ts';
import { type Answer, startGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { metricsOf } from '../support/metrics.ts';
import { accepts, askForParts } from '../support/parts.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { event, listedDashboard, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const routes: Routes = {
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/dashboards/': listOf([1, 2].map((id) => listedDashboard(id))),
  'GET /api/projects/:id/events/': () => ({ next: null, results: [event(1)] }),
};

function start(options: Partial<GatewayOptions> = {}, others: Routes = {}): ReturnType<typeof startBoth> {
  return startBoth({ ...routes, ...others }, options, { hold: 0 });
}

function told({ headers }: Pick<Answer, 'headers'>): readonly (string | null)[] {
  return ['ratelimit-policy', 'ratelimit'].map((name) => headers.get(name));
}

const one = '{ project(id: 1) { name } }';
const both = '{ project(id: 1) { name events(first: 1) { nodes { upstreamId } } } }';

describe('The headers RateLimit-Policy and RateLimit', () => {
  test('tell every window of the surfaces that were called, and of each the one with the least left', async () => {
    const budget = budgetOf({ rest: '10/60,8/3600', events: '5/60', values: '5/60' });
    const { gateway } = await start({ budget });
    expect(told(await gateway.ask(both))).toEqual([
      '"events-60s";q=5;w=60, "rest-60s";q=10;w=60, "rest-3600s";q=8;w=3600',
      '"events-60s";r=4;t=60, "rest-3600s";r=7;t=3600',
    ]);
    expect(told(await gateway.ask('{ project(id: 2) { name } }'))).toEqual([
      '"rest-60s";q=10;w=60, "rest-3600s";q=8;w=3600',
      '"rest-3600s";r=6;t=3600',
    ]);
  });

  test('are absent if nothing has a budget, or what was called has none, or nothing was called', async () => {
    const { gateway: free } = await start();
    expect(told(await free.ask(both))).toEqual([null, null]);
    const { gateway } = await start({ budget: budgetOf({ values: '5/60' }) });
    expect(told(await gateway.ask(both))).toEqual([null, null]);
    expect(told(await gateway.ask('{ __typename }'))).toEqual([null, null]);
    expect(told(await gateway.ask('{'))).toEqual([null, null]);
  });

  test('are absent if the cache answers, also for an answer that was made when calls were needed', async () => {
    const cache = { ttls: { projects: 60 }, staleSeconds: 600, maxBytes: 2 ** 20 };
    const { upstream, gateway } = await start({ budget: budgetOf({ rest: '5/60' }), cache });
    expect(told(await gateway.ask(one))).toEqual(['"rest-60s";q=5;w=60', '"rest-60s";r=4;t=60']);
    for (let times = 0; times < 3; times += 1) expect(told(await gateway.ask(one))).toEqual([null, null]);
    expect(upstream.requests).toHaveLength(1);
  });

  test('say of an operation that is refused that no window ends after Retry-After', async () => {
    const { gateway } = await start({ budget: budgetOf({ rest: '1/60' }) });
    await gateway.ask(one);
    const refused = await gateway.ask('{ project(id: 2) { name } }');
    expect(refused.status).toBe(429);
    const retryAfter = refused.headers.get('retry-after');
    expect(told(refused)).toEqual(['"rest-60s";q=1;w=60', `"rest-60s";r=0;t=${retryAfter}`]);
  });

  test('come with an answer of which fields failed', async () => {
    const { gateway } = await start(
      { budget: budgetOf({ rest: '5/60', events: '5/60' }) },
      { 'GET /api/projects/1/': reply({ status: 404 }) },
    );
    expect(told(await gateway.ask(one))).toEqual(['"rest-60s";q=5;w=60', '"rest-60s";r=4;t=60']);
  });

  test('come with the head of an answer in parts, as of its first part', async () => {
    const deferred = Promise.withResolvers<void>();
    const { gateway } = await start(
      { budget: budgetOf({ rest: '5/60' }) },
      {
        'GET /api/projects/1/dashboards/': () => deferred.promise.then(() => ({ count: 0, next: null, results: [] })),
      },
    );
    const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
    const { headers, parts } = await askForParts(gateway.url, query, accepts['v0.2']);
    expect(headers.get('content-type')).toContain('multipart/mixed');
    expect(told({ headers })).toEqual(['"rest-60s";q=5;w=60', '"rest-60s";r=3;t=60']);
    deferred.resolve();
    expect(await Array.fromAsync(parts)).toHaveLength(2);
  });

  test.skipIf(!hasRedis)('tell what all gateways of one Redis have left together', async () => {
    await using redis = await startRedis();
    await using upstream = await startUpstream(routes, { hold: 0 });
    const settings = { budget: budgetOf({ rest: '5/60' }), persisted: { redisUrl: redis.url } };
    await using first = await startGateway(upstream, settings);
    await using second = await startGateway(upstream, settings);
    for (const gateway of [first, second])
      await expect.poll(() => metricsOf(gateway)).toContain('gateway_budget_mode{mode="redis"} 1');
    await first.ask(one);
    const [, limits] = told(await second.ask('{ project(id: 2) { name } }'));
    expect(limits).toBe('"rest-60s";r=3;t=60');
  });

  test('can be read by pages of other origins', async () => {
    const origin = 'https://app.example.com';
    const { gateway } = await start({ budget: budgetOf({ rest: '5/60' }), corsOrigins: [origin] });
    const exposed = (await gateway.ask(one, { headers: { origin } })).headers.get('access-control-expose-headers');
    expect(exposed).toContain('ratelimit-policy, ratelimit');
  });
});
