import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { rowsOf } from '../support/connections.ts';
import { organizationId } from '../support/current.ts';
import { listOf } from '../support/lists.ts';
import { reply } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { dashboard, listedDashboard, plugin, project } from '../support/rows.ts';

/** Answers with the row, its name the number of answers so far: who reads twice sees two names. */
function renamed(row: (name: string) => ReturnType<typeof project>): Handler {
  let reads = 0;
  return () => {
    reads += 1;
    return row(`Read ${reads}`);
  };
}

describe('the calls of a mutation', () => {
  test('are one more read for what the payload refers to', async () => {
    const { upstream, gateway } = await startBoth(
      {
        'PATCH /api/projects/1/dashboards/2/': dashboard(2),
        'GET /api/projects/1/': project(1),
        'GET /api/projects/1/dashboards/': listOf(rowsOf(2, listedDashboard)),
      },
      {},
      { quiet: 25 },
    );
    const answer = await gateway.ask(`mutation { updateDashboard(input: { id: 2, projectId: 1 }) {
      dashboard { name project { name dashboards(first: 2) { nodes { name } } } } } }`);
    expect(answer.errors).toBeUndefined();
    expect(upstream.requests[0]).toBe('PATCH /api/projects/1/dashboards/2/');
    expect(upstream.requests.slice(1).toSorted()).toEqual([
      'GET /api/projects/1/',
      'GET /api/projects/1/dashboards/?limit=2',
    ]);
    expect(upstream.waves()).toBe(2);
  });
});

describe('mutations of one operation', () => {
  test('run one after the other, each with its payload before the next', async () => {
    const { upstream, gateway } = await startBoth(
      {
        'PATCH /api/projects/1/': project(1),
        'PATCH /api/projects/2/': project(2),
        'GET /api/projects/:id/dashboards/': listOf([listedDashboard(1)]),
      },
      {},
      { quiet: 25 },
    );
    const payload = '{ project { dashboards(first: 1) { nodes { name } } } }';
    await gateway.ask(`mutation {
      a: updateProject(input: { id: 1 }) ${payload}
      b: updateProject(input: { id: 2 }) ${payload}
    }`);
    expect(upstream.requests).toEqual([
      'PATCH /api/projects/1/',
      'GET /api/projects/1/dashboards/?limit=1',
      'PATCH /api/projects/2/',
      'GET /api/projects/2/dashboards/?limit=1',
    ]);
    expect(upstream.waves()).toBe(4);
  });

  test('do not answer with rows or pages that were read before the last of them', async () => {
    const { upstream, gateway } = await startBoth({
      'PATCH /api/projects/1/dashboards/2/': dashboard(2),
      'GET /api/projects/1/': renamed((name) => project(1, { name })),
      'GET /api/projects/1/dashboards/': renamed((name) => ({
        count: 1,
        next: null,
        previous: null,
        results: [listedDashboard(1, { name })],
      })),
    });
    const read = '{ dashboard { project { name dashboards(first: 1) { nodes { name } } } } }';
    const answer = await gateway.ask(`mutation {
      a: updateDashboard(input: { id: 2, projectId: 1 }) ${read}
      b: updateDashboard(input: { id: 2, projectId: 1 }) ${read}
    }`);
    const seen = (name: string) => ({ dashboard: { project: { name, dashboards: { nodes: [{ name }] } } } });
    expect(answer.data).toEqual({ a: seen('Read 1'), b: seen('Read 2') });
    expect(upstream.requests).toHaveLength(6);
  });

  test('keep the answer of one that was done if the next fails, after which nothing read before is true', async () => {
    const { upstream, gateway } = await startBoth({
      'PATCH /api/projects/1/dashboards/2/': dashboard(2),
      'PATCH /api/projects/1/dashboards/3/': reply({ status: 500 }),
      'GET /api/projects/1/': renamed((name) => project(1, { name })),
    });
    const answer = await gateway.ask(`mutation {
      a: updateDashboard(input: { id: 2, projectId: 1 }) { dashboard { project { name } } }
      b: updateDashboard(input: { id: 3, projectId: 1 }) { dashboard { name } }
      c: updateDashboard(input: { id: 2, projectId: 1 }) { dashboard { project { name } } }
    }`);
    expect(answer.data).toEqual({
      a: { dashboard: { project: { name: 'Read 1' } } },
      b: null,
      c: { dashboard: { project: { name: 'Read 2' } } },
    });
    expect(answer.errors).toMatchObject([{ path: ['b'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    // A write is never sent twice.
    expect(upstream.requests.filter((line) => line.endsWith('/3/'))).toHaveLength(1);
  });

  test('whose payload selects nothing of the object read nothing', async () => {
    const { upstream, gateway } = await startBoth({ 'POST /api/projects/': project(3) });
    const answer = await gateway.ask('mutation { createProject(input: {}) { __typename } }');
    expect(answer.data).toEqual({ createProject: { __typename: 'CreateProjectPayload' } });
    expect(upstream.requests).toEqual(['POST /api/projects/']);
  });

  test('whose action answers no plugin read the plugin only if it is asked for', async () => {
    const { upstream, gateway } = await startBoth({
      [`POST /api/organizations/${organizationId}/plugins/2/upgrade/`]: { detail: 'ok' },
      [`GET /api/organizations/${organizationId}/plugins/2/`]: plugin(2),
    });
    const upgrade = `upgradePlugin(input: { id: 2, organizationId: "${organizationId}" })`;
    await gateway.ask(`mutation { ${upgrade} { body plugin { upstreamId } } }`);
    expect(upstream.requests).toHaveLength(1);
    const answer = await gateway.ask(`mutation { ${upgrade} { plugin { name tag } } }`);
    expect(answer.data).toEqual({ upgradePlugin: { plugin: { name: 'Plugin 2', tag: 'v1.0.0' } } });
    expect(upstream.requests.slice(2)).toEqual([`GET /api/organizations/${organizationId}/plugins/2/`]);
  });

  test('that checks for updates is a GET that is sent for each, and after which what was read is read again', async () => {
    const plugins = `/api/organizations/${organizationId}/plugins/`;
    const { upstream, gateway } = await startBoth({ [`GET ${plugins}2/check_for_updates/`]: { plugin: plugin(2) } });
    const check = `checkPluginForUpdates(input: { id: 2, organizationId: "${organizationId}" }) { plugin { latestTag } }`;
    const asked = Array.from({ length: 3 }, () => gateway.ask(`mutation { a: ${check} b: ${check} }`));
    const expected = { plugin: { latestTag: 'v1.1.0' } };
    for (const { data } of await Promise.all(asked)) expect(data).toEqual({ a: expected, b: expected });
    expect(upstream.requests).toEqual(Array.from({ length: 6 }, () => `GET ${plugins}2/check_for_updates/`));
  });
});
