import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { rowsOf } from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, listedDashboard, listedProject, project } from '../support/rows.ts';

const workspace: Routes = {
  'GET /api/projects/': listOf(rowsOf(3, listedProject)),
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/dashboards/': listOf(rowsOf(20, listedDashboard)),
  'GET /api/projects/:id/dashboards/:dashboard/': ({ params }) => dashboard(Number(params['dashboard'])),
};

const expensive = '{ projects { nodes { dashboards(first: 100) { nodes { tiles } } } } }';

describe('An operation that may cost too much', () => {
  test('is refused before its first call, with the count, the limit and the most expensive path, and its cost if asked', async () => {
    const { upstream, gateway } = await startBoth(workspace);
    const { status, errors, body, extensions } = await gateway.ask(expensive, { extensions: { cost: true } });
    expect({ status, errors, data: /"data"/.test(body), extensions }).toEqual({
      status: 200,
      data: false,
      extensions: { cost: { requested: 5051, actual: 0, limit: 150 } },
      errors: [
        {
          message:
            'The operation may make up to 5051 REST calls, 5000 of them for `projects.nodes.dashboards.nodes`, but the limit is 150.',
          extensions: {
            code: 'COST_LIMIT_EXCEEDED',
            calls: 5051,
            limit: 150,
            path: 'projects.nodes.dashboards.nodes',
          },
        },
      ],
    });
    expect(upstream.requests).toEqual([]);
  });

  test('runs if the limits are higher, and counts rows, too', async () => {
    const { upstream, gateway } = await startBoth(workspace, { maxUpstreamCalls: 10_000, maxUpstreamRows: 10_049 });
    const refused = await gateway.ask(expensive);
    expect(refused.errors?.[0]?.extensions).toEqual({
      code: 'COST_LIMIT_EXCEEDED',
      rows: 10_050,
      limit: 10_049,
      path: 'projects.nodes.dashboards',
    });
    await using generous = await startGateway(upstream, { maxUpstreamCalls: 10_000, maxUpstreamRows: 10_050 });
    const { errors, extensions } = await generous.ask(expensive, { extensions: { cost: true } });
    expect(errors).toBeUndefined();
    expect(extensions).toEqual({ cost: { requested: 5051, actual: 64, limit: 10_000 } });
  });

  test('depends on its variables', async () => {
    const { gateway } = await startBoth(workspace, { maxUpstreamCalls: 10 });
    const query =
      'query ($n: Int, $tiles: Boolean = true) { project(id: 1) { dashboards(first: $n) { nodes { name tiles @include(if: $tiles) } } } }';
    const codes = [];
    for (const variables of [{ n: 8 }, { n: 9 }, { n: 9, tiles: false }, { n: 'x' }]) {
      const { errors } = await gateway.ask(query, { variables });
      codes.push(errors?.[0]?.extensions['code']);
    }
    expect(codes).toEqual([undefined, 'COST_LIMIT_EXCEEDED', undefined, 'BAD_USER_INPUT']);
  });
});

describe('What an operation costs', () => {
  test('stands beside the answer: the plan at most, the calls made, the limit', async () => {
    const { gateway } = await startBoth(workspace);
    const { extensions } = await gateway.ask('{ project(id: 1) { name dashboards(first: 5) { nodes { tiles } } } }', {
      extensions: { cost: true },
    });
    expect(extensions).toEqual({ cost: { requested: 7, actual: 7, limit: 150 } });
    expect((await gateway.ask('{ __typename }', { extensions: { cost: true } })).extensions).toEqual({
      cost: { requested: 0, actual: 0, limit: 150 },
    });
  });

  test('counts page filling, which ends at the limit', async () => {
    const { upstream, gateway } = await startBoth(
      {
        ...workspace,
        'GET /api/projects/:id/dashboards/': listOf(rowsOf(20, listedDashboard), { cap: 2 }),
      },
      { maxUpstreamCalls: 5 },
    );
    const query = '{ project(id: 1) { name dashboards(first: 8) { nodes { name } } } }';
    const within = await gateway.ask(query, { extensions: { cost: true } });
    expect(within.errors).toBeUndefined();
    expect(within.extensions).toEqual({ cost: { requested: 2, actual: 5, limit: 5 } });
    upstream.reset();
    const beyond = await gateway.ask(query.replace('8', '10'), { extensions: { cost: true } });
    expect(beyond.errors).toMatchObject([
      { path: ['project', 'dashboards'], extensions: { code: 'COST_LIMIT_EXCEEDED' } },
    ]);
    expect(beyond.data).toEqual({ project: { name: 'Project 1', dashboards: null } });
    expect(upstream.requests).toHaveLength(5);
  });

  test('counts retries, and nothing is repeated beyond the limit', async () => {
    const { upstream, gateway } = await startBoth({ 'GET /api/projects/:id/': reply({ status: 503 }) });
    await using frugal = await startGateway(upstream, { maxUpstreamCalls: 1 });
    const query = '{ project(id: 1) { name } }';
    const { extensions } = await gateway.ask(query, { extensions: { cost: true } });
    expect(extensions).toEqual({ cost: { requested: 1, actual: 2, limit: 150 } });
    upstream.reset();
    const { errors } = await frugal.ask(query);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    expect(upstream.requests).toHaveLength(1);
  });
});
