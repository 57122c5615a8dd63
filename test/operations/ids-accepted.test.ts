import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { at } from '../support/connections.ts';
import { globalId, organizationId } from '../support/current.ts';
import { listOf } from '../support/lists.ts';
import { sendRaw } from '../support/raw-http.ts';
import type { Json } from '../support/replies.ts';
import { dashboard, event, listedDashboard, listedProject, plugin, project } from '../support/rows.ts';

const routes = {
  'GET /api/projects/:id/': project(1),
  'GET /api/projects/:id/dashboards/:dashboard/': dashboard(2),
  'GET /api/projects/:id/events/:event/': event(3),
  'GET /api/organizations/:id/plugins/:plugin/': plugin(4),
  'GET /api/organizations/:id/plugins/': listOf([plugin(4)]),
};

describe('an id', () => {
  const accepted: readonly (readonly [query: string, id: string, call: string])[] = [
    ['project(id: $id) { name }', '1', '/api/projects/1/'],
    ['project(id: $id) { name }', '0', '/api/projects/0/'],
    ['project(id: $id) { name }', '12345678901234567890', '/api/projects/12345678901234567890/'],
    ['project(id: $id) { name }', '@current', '/api/projects/@current/'],
    ['project(id: $id) { name }', globalId('Project:1'), '/api/projects/1/'],
    ['project(id: $id) { name }', '-7', '/api/projects/-7/'],
    ['project(id: $id) { name }', globalId('Project:-7'), '/api/projects/-7/'],
    ['project(id: 1) { dashboard(id: $id) { name } }', '2', '/api/projects/1/dashboards/2/'],
    ['project(id: 1) { dashboard(id: $id) { name } }', globalId('Dashboard:1:2'), '/api/projects/1/dashboards/2/'],
    ['project(id: 1) { event(id: $id) { event } }', 'a.b~c:d-e_f', '/api/projects/1/events/a.b~c:d-e_f/'],
    ['project(id: 1) { event(id: $id) { event } }', '...', '/api/projects/1/events/.../'],
    ['project(id: 1) { event(id: $id) { event } }', 'VALUES', '/api/projects/1/events/VALUES/'],
    ['project(id: 1) { event(id: $id) { event } }', 'x'.repeat(200), `/api/projects/1/events/${'x'.repeat(200)}/`],
    ['project(id: 1) { event(id: $id) { event } }', 'x'.repeat(500), `/api/projects/1/events/${'x'.repeat(500)}/`],
    [
      'project(id: 1) { event(id: $id) { event } }',
      'a b?c#d&e=50%',
      '/api/projects/1/events/a%20b%3Fc%23d%26e%3D50%25/',
    ],
    ['project(id: 1) { event(id: $id) { event } }', '-1', '/api/projects/1/events/-1/'],
    [
      'node(id: $id) { ... on Event { event } }',
      globalId('Event:1:é🙂 x'),
      '/api/projects/1/events/%C3%A9%F0%9F%99%82%20x/',
    ],
    [
      'node(id: $id) { ... on Plugin { name } }',
      globalId(`Plugin:${organizationId.toUpperCase()}:-4`),
      `/api/organizations/${organizationId}/plugins/-4/`,
    ],
    ['project(id: 1) { event(id: $id) { event } }', globalId('Event:1:a:b'), '/api/projects/1/events/a:b/'],
    ['organization(id: $id) { name }', organizationId, `/api/organizations/${organizationId}/plugins/?limit=1`],
    ['organization(id: $id) { name }', '@current', '/api/organizations/@current/plugins/?limit=1'],
    ['node(id: $id) { ... on Event { event } }', globalId('Event:1:a:b'), '/api/projects/1/events/a:b/'],
  ];

  test.each(accepted)('goes into one path segment as it is: %s', async (query, id, call) => {
    const { upstream, gateway } = await startBoth(routes);
    const { errors } = await gateway.ask(`query ($id: ID!) { ${query} }`, { variables: { id } });
    expect(errors).toBeUndefined();
    expect(upstream.requests).toEqual([`GET ${call}`]);
  });

  test('may be an integer of the query or of the variables', async () => {
    const { upstream, gateway } = await startBoth(routes);
    await gateway.ask('{ project(id: 12345678901234567890) { name } }');
    await gateway.ask('query ($id: ID!) { project(id: $id) { name } }', { variables: { id: 7 } });
    expect(upstream.requests).toEqual(['GET /api/projects/12345678901234567890/', 'GET /api/projects/7/']);
  });

  test('may be an integer beyond 2^53 in the variables, whose every digit counts', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const send = (query: string, variables: string) =>
      sendRaw(gateway.url, {
        headers: ['content-type', 'application/json', 'authorization', 'Bearer phx_test'],
        body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
      });
    // Executed by other code from the second time on.
    for (let times = 0; times < 3; times += 1) {
      upstream.reset();
      const { body } = await send('query ($id: ID!) { project(id: $id) { name } }', '{"id":9007199254740993}');
      expect(body).toBe('{"data":{"project":{"name":"Project 1"}}}');
      expect(upstream.requests).toEqual(['GET /api/projects/9007199254740993/']);
      const refused = await send('query ($n: Int!) { projects(first: $n) { totalCount } }', '{"n":9007199254740993}');
      expect(refused.body).toContain('Int cannot represent non-integer value: 9007199254740993');
    }
  });

  test('in a body is a number, with every digit', async () => {
    const { upstream, gateway } = await startBoth({ 'PATCH /api/projects/1/': project(1) });
    for (const id of ['9', globalId('Dashboard:1:9'), '9007199254740993']) {
      await gateway.ask(
        'mutation ($id: ID) { updateProject(input: { id: 1, primaryDashboardId: $id }) { __typename } }',
        {
          variables: { id },
        },
      );
    }
    expect(upstream.records.map(({ body }) => body)).toEqual([
      '{"primary_dashboard":9}',
      '{"primary_dashboard":9}',
      '{"primary_dashboard":9007199254740993}',
    ]);
  });
});

describe('an id that a row holds', () => {
  const hostile: readonly Json[] = ['1/../2', '..', '%2e%2e', '2?x=', '', '2\r\nX: 1', {}, [2], true, 1.5, -1.5, 1e300];

  test.each(hostile.map((id) => [JSON.stringify(id), id] as const))(
    'never becomes another path: %s',
    async (_text, id) => {
      const { upstream, gateway } = await startBoth({
        'GET /api/projects/1/': project(1, { primary_dashboard: id, organization: id }),
        'GET /api/projects/1/dashboards/': listOf([listedDashboard(1, { id })]),
      });
      const answer = await gateway.ask(`{ project(id: 1) {
      name
      primaryDashboard { name }
      organization { plugins { totalCount } }
      dashboards(first: 1) { nodes { name tiles project { name } } }
    } }`);
      expect(upstream.requests.toSorted()).toEqual(['GET /api/projects/1/', 'GET /api/projects/1/dashboards/?limit=1']);
      expect(answer.data).toMatchObject({
        project: { name: 'Project 1', dashboards: { nodes: [{ name: 'Dashboard 1', tiles: null }] } },
      });
      const codes = new Set(answer.errors?.map(({ extensions }) => extensions['code']));
      expect(codes).toEqual(new Set(['UPSTREAM_INVALID_RESPONSE']));
      expect(gateway.reported).toEqual([]);
    },
  );

  test('fails alone if it cannot be followed, and not with the lists of the other rows', async () => {
    const { upstream, gateway } = await startBoth({
      'GET /api/projects/': listOf([listedProject(1), listedProject(2, { organization: '../2' }), listedProject(3)]),
      'GET /api/organizations/:id/plugins/': listOf([plugin(4)]),
    });
    const answer = await gateway.ask('{ projects { nodes { organization { plugins(first: 1) { totalCount } } } } }');
    const found = { organization: { plugins: { totalCount: 1 } } };
    expect(answer.data).toEqual({ projects: { nodes: [found, { organization: { plugins: null } }, found] } });
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('the id of a row', () => {
  test('finds its project, dashboard and plugin again even if it is negative', async () => {
    const { gateway } = await startBoth({
      'GET /api/projects/': listOf([listedProject(-1)]),
      'GET /api/projects/-1/': project(-1),
      'GET /api/projects/-1/dashboards/': listOf([listedDashboard(-2)]),
      'GET /api/projects/-1/dashboards/-2/': dashboard(-2),
      [`GET /api/organizations/${organizationId}/plugins/`]: listOf([plugin(-4)]),
      [`GET /api/organizations/${organizationId}/plugins/-4/`]: plugin(-4),
    });
    const answer = await gateway.ask(
      '{ projects { nodes { id dashboards { nodes { id } } organization { plugins { nodes { id } } } } } }',
    );
    const found = at(answer.data, 'projects', 'nodes', 0);
    const ids = [
      at(found, 'id'),
      at(found, 'dashboards', 'nodes', 0, 'id'),
      at(found, 'organization', 'plugins', 'nodes', 0, 'id'),
    ];
    const again = await gateway.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { variables: { ids } });
    expect(again.errors).toBeUndefined();
    expect(again.data).toEqual({ nodes: ids.map((id) => ({ id })) });
  });
});
