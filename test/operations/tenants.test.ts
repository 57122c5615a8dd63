import { describe, expect, test } from 'vitest';
import { type GatewayOptions } from '../../src/gateway.ts';
import { cacheSettings } from '../support/cache.ts';
import { at, textAt } from '../support/connections.ts';
import { globalId } from '../support/current.ts';
import { type GateOptions } from '../support/gate.ts';
import type { Answer } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { codesOf, pause } from '../support/load.ts';
import { apiError, reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, listedProject, plugin, project } from '../support/rows.ts';
import { type Entries, startBothTenants } from '../support/tenants.ts';
import { until } from '../support/until.ts';

const own = '018f1c4e-0000-7000-8000-00000000000a';
const other = '018f1c4e-0000-7000-8000-00000000000b';

const routes: Routes = {
  'GET /api/projects/': listOf([1, 2, 3, 4].map((id) => listedProject(id))),
  'GET /api/projects/:id/': ({ params }) =>
    project(Number(params['id']), { organization: params['id'] === '4' ? other : own }),
  'PATCH /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/dashboards/:dashboard/': ({ params }) => dashboard(Number(params['dashboard'])),
  'POST /api/projects/:id/dashboards/': dashboard(9),
  'PATCH /api/projects/:id/dashboards/:dashboard/': ({ params }) => dashboard(Number(params['dashboard'])),
  'PATCH /api/projects/:id/dashboards/:dashboard/move_tile/': ({ params }) => dashboard(Number(params['dashboard'])),
  'GET /api/organizations/:id/plugins/': listOf([
    plugin(1, { organization_id: own }),
    plugin(2, { organization_id: other, is_global: true, organization_name: 'Other' }),
  ]),
  'GET /api/organizations/:id/plugins/:plugin/': ({ params }) =>
    plugin(Number(params['plugin']), { organization_id: other }),
};

const entries: Entries = {
  acme: { key: 'phx_shared', projects: ['4', '2'], organizations: [own], mutations: true },
  wide: { key: 'phx_shared', mutations: ['updateProject'] },
};

/** Starts a gateway for tenants with these entries, over an upstream with `routes`. */
function start(given = entries, options: Partial<GatewayOptions> = {}, gate: GateOptions = {}) {
  return startBothTenants(routes, given, options, gate);
}

// contract/reach.test.ts has each place of the schema that takes an id.
describe('Out of reach is', () => {
  test.each([
    ['a project of which only the id is asked for', '{ project(id: 1) { id } }', { project: null }],
    ['a project by its global id', `{ node(id: "${globalId('Project:1')}") { id } }`, { node: null }],
    ['an event', `{ node(id: "${globalId('Event:3:e')}") { id } }`, { node: null }],
    ['a plugin', `{ node(id: "${globalId(`Plugin:${other}:1`)}") { id } }`, { node: null }],
    ['an organization by its global id', `{ node(id: "${globalId(`Organization:${other}`)}") { id } }`, { node: null }],
    [
      'an item of a list',
      `{ nodes(ids: ["${globalId('Project:1')}", "${globalId(`Organization:${other}`)}"]) { id } }`,
      { nodes: [null, null] },
    ],
  ])('%s: it is null, and nothing is called', async (_name, query, data) => {
    const { upstream, gateway } = await start();
    const answer = await gateway.askAs('acme', query);
    expect([answer.status, answer.data, answer.errors]).toEqual([200, data, undefined]);
    expect(upstream.requests).toEqual([]);
  });

  test('the organization of a project, and that of a global plugin, while their columns stay', async () => {
    const { upstream, gateway } = await start();
    const query = `{
      project(id: 4) { organizationId organization { id name } }
      organization(id: "${own}") { plugins { nodes { upstreamId organizationId organization { upstreamId name } } } }
    }`;
    const answer = await gateway.askAs('acme', query);
    expect(answer.errors).toBe(undefined);
    expect(answer.data).toEqual({
      project: { organizationId: other, organization: null },
      organization: {
        plugins: {
          nodes: [
            { upstreamId: '1', organizationId: own, organization: { upstreamId: own, name: 'Acme' } },
            { upstreamId: '2', organizationId: other, organization: null },
          ],
        },
      },
    });
    expect(upstream.requests.toSorted()).toEqual([
      `GET /api/organizations/${own}/plugins/?limit=50`,
      'GET /api/projects/4/',
    ]);
  });

  test('what @current stands for: a tenant with limited reach may not name it', async () => {
    const { upstream, gateway } = await start();
    for (const query of [
      '{ project(id: "@current") { id } }',
      '{ organization(id: "@current") { id } }',
      'mutation { updateProject(input: { id: "@current" }) { project { id } } }',
      'mutation { createDashboard(input: { projectId: "@current" }) { dashboard { id } } }',
      'mutation { updatePlugin(input: { id: 1, organizationId: "@current" }) { plugin { id } } }',
    ]) {
      expect(codesOf(await gateway.askAs('acme', query))).toEqual(['BAD_USER_INPUT']);
    }
    expect(upstream.requests).toEqual([]);
  });
});

describe('The list of projects of a tenant with limited reach', () => {
  const page = '{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor } }';

  test('is that of its entry, in its order; counts, cursors and page facts cost no call', async () => {
    const { upstream, gateway } = await start();
    const first = await gateway.askAs('acme', `{ projects(first: 1) ${page} }`);
    const facts = { totalCount: 2, pageInfo: { hasNextPage: true, hasPreviousPage: false } };
    expect(first.data).toMatchObject({ projects: facts });
    const after = textAt(first.data, 'projects', 'pageInfo', 'endCursor');
    const rest = await gateway.askAs(
      'acme',
      `{ projects(after: "${after}") ${page} last: projects(last: 1) ${page} none: projects(first: 0) ${page} }`,
    );
    expect(rest.data).toMatchObject({
      projects: { totalCount: 2, edges: [{}], pageInfo: { hasNextPage: false, hasPreviousPage: true } },
      last: { edges: [{}], pageInfo: { hasNextPage: false, hasPreviousPage: true } },
      none: { edges: [], pageInfo: { hasNextPage: true, hasPreviousPage: false, endCursor: null } },
    });
    expect(upstream.requests).toEqual([]);
  });

  test('reads its projects by their keys, all at once', async () => {
    const { upstream, gateway } = await start();
    const answer = await gateway.askAs('acme', '{ projects { nodes { upstreamId name } edges { node { name } } } }');
    expect(answer.data).toEqual({
      projects: {
        nodes: [
          { upstreamId: '4', name: 'Project 4' },
          { upstreamId: '2', name: 'Project 2' },
        ],
        edges: [{ node: { name: 'Project 4' } }, { node: { name: 'Project 2' } }],
      },
    });
    expect(upstream.requests.toSorted()).toEqual(['GET /api/projects/2/', 'GET /api/projects/4/']);
    expect(upstream.waves()).toBe(1);
  });

  test('reads a page of the list in place of many keys, and answers nothing else of it', async () => {
    const { upstream, gateway } = await start({ acme: { key: 'k', projects: ['4', '2', '1'] } });
    const answer = await gateway.askAs('acme', '{ projects { totalCount nodes { name } } }');
    expect(answer.data).toEqual({
      projects: { totalCount: 3, nodes: [{ name: 'Project 4' }, { name: 'Project 2' }, { name: 'Project 1' }] },
    });
    expect(upstream.requests).toEqual(['GET /api/projects/?limit=100']);
  });

  test('counts a project that is gone, and answers null for it', async () => {
    const { gateway } = await startBothTenants({ 'GET /api/projects/2/': project(2) }, entries);
    const answer = await gateway.askAs('acme', '{ projects { totalCount nodes { name } edges { node { name } } } }');
    expect([answer.data, answer.errors]).toEqual([
      {
        projects: {
          totalCount: 2,
          nodes: [null, { name: 'Project 2' }],
          edges: [{ node: null }, { node: { name: 'Project 2' } }],
        },
      },
      undefined,
    ]);
  });

  test('is empty for a tenant with organizations alone', async () => {
    const { upstream, gateway } = await start({ acme: { key: 'k', organizations: [own] } });
    const answer = await gateway.askAs('acme', '{ projects { totalCount nodes { name } } }');
    expect(answer.data).toEqual({ projects: { totalCount: 0, nodes: [] } });
    expect(upstream.requests).toEqual([]);
  });
});

test('a tenant without ids reaches all that its key sees', async () => {
  const { upstream, gateway } = await start();
  const answer = await gateway.askAs('wide', '{ project(id: 1) { name } projects { totalCount } }');
  expect(answer.data).toEqual({ project: { name: 'Project 1' }, projects: { totalCount: 4 } });
  expect(new Set(upstream.records.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer phx_shared']));
});

test('tenants with a key each share no cache: neither gets what the other one has read', async () => {
  const named: Routes = {
    'GET /api/projects/:id/': ({ params, headers }) =>
      project(Number(params['id']), { name: headers.authorization ?? '' }),
  };
  const both = { acme: { key: 'phx_acme' }, globex: { key: 'phx_globex' } };
  const { upstream, gateway } = await startBothTenants(named, both, { cache: cacheSettings });
  const expectOwn = async (id: number, ...tenants: readonly (keyof typeof both)[]): Promise<void> => {
    const ask = (tenant: string): Promise<Answer> => gateway.askAs(tenant, `{ project(id: ${id}) { name } }`);
    const names = (await Promise.all(tenants.map(ask))).map(({ data }) => textAt(data, 'project', 'name'));
    expect(names).toEqual(tenants.map((tenant) => `Bearer ${both[tenant].key}`));
  };
  await expectOwn(1, 'acme', 'globex');
  for (const tenant of ['globex', 'acme', 'globex', 'acme'] as const) await expectOwn(2, tenant);
  await expectOwn(1, 'globex', 'acme');
  // Each tenant has read both projects once. The other answers came from the cache.
  expect(upstream.requests.toSorted()).toEqual([1, 1, 2, 2].map((id) => `GET /api/projects/${id}/`));
});

describe('Forbidden is', () => {
  const use = (id: string): string =>
    `mutation { createDashboard(input: { projectId: 2, useDashboardId: "${id}" }) { dashboard { upstreamId } } }`;

  test.each([
    ['a mutation that the entry does not name', 'wide', 'mutation { deleteProject(input: { id: 1 }) { deletedId } }'],
    [
      'a new project, whatever the entry says',
      'acme',
      'mutation { createProject(input: { name: "x" }) { project { id } } }',
    ],
  ])('%s: an error of its field, and nothing is called', async (_name, tenant, query) => {
    const { upstream, gateway } = await start();
    const answer = await gateway.askAs(tenant, query);
    expect([answer.status, codesOf(answer), answer.errors?.[0]?.path?.length]).toEqual([200, ['FORBIDDEN'], 1]);
    expect(upstream.requests).toEqual([]);
  });

  test('not what is within reach', async () => {
    const { upstream, gateway } = await start();
    for (const query of [
      use(globalId('Dashboard:2:8')),
      'mutation { updateProject(input: { id: 2, name: "x", extra: {} }) { project { upstreamId } } }',
      'mutation { createDashboard(input: { projectId: 4, name: "x" }) { dashboard { upstreamId } } }',
      `mutation { moveDashboardTile(input: { id: 7, projectId: 2, tileId: 1, toDashboardId: "${globalId('Dashboard:2:8')}" }) { dashboard { upstreamId } } }`,
    ]) {
      expect((await gateway.askAs('acme', query)).errors).toBe(undefined);
    }
    const rename = 'mutation { updateProject(input: { id: 1, name: "x" }) { project { upstreamId } } }';
    expect((await gateway.askAs('wide', rename)).errors).toBe(undefined);
    expect(upstream.requests).toEqual([
      'GET /api/projects/2/dashboards/8/',
      'POST /api/projects/2/dashboards/',
      'PATCH /api/projects/2/',
      'POST /api/projects/4/dashboards/',
      'GET /api/projects/2/dashboards/7/',
      'GET /api/projects/2/dashboards/8/',
      'PATCH /api/projects/2/dashboards/7/move_tile/',
      'PATCH /api/projects/1/',
    ]);
  });

  test('nothing of a tenant without limited reach, which makes no call to find out', async () => {
    const { upstream, gateway } = await start({ wide: { key: 'phx_wide', mutations: true } });
    expect((await gateway.askAs('wide', use(globalId('Dashboard:2:8')))).errors).toBe(undefined);
    expect((await gateway.askAs('wide', use('8'))).errors).toBe(undefined);
    expect(upstream.requests).toEqual(Array.from({ length: 2 }, () => 'POST /api/projects/2/dashboards/'));
  });

  test.each([500, 403])(
    'not what the upstream fails to show (%i): nothing is written, and the failure is told',
    async (status) => {
      const failing = {
        ...routes,
        'GET /api/projects/:id/dashboards/:dashboard/': reply({ status, body: apiError('error') }),
      };
      const { upstream, gateway } = await startBothTenants(failing, entries);
      const answer = await gateway.askAs('acme', use(globalId('Dashboard:2:8')));
      expect(codesOf(answer)).toEqual([status === 403 ? 'FORBIDDEN' : 'UPSTREAM_UNAVAILABLE']);
      expect(upstream.requests.filter((line) => !line.startsWith('GET'))).toEqual([]);
    },
  );

  test('one mutation of several: the others are done', async () => {
    const { upstream, gateway } = await start();
    const query =
      'mutation { a: updateProject(input: { id: 1 }) { project { id } } b: updateProject(input: { id: 2, name: "x" }) { project { upstreamId } } }';
    const answer = await gateway.askAs('acme', query);
    expect([answer.data, codesOf(answer)]).toEqual([{ a: null, b: { project: { upstreamId: '2' } } }, ['FORBIDDEN']]);
    expect(upstream.requests).toEqual(['PATCH /api/projects/2/']);
  });
});

test('a plan has no call for what is out of reach', async () => {
  const { upstream, gateway } = await start(entries, { explain: true });
  const plan = async (tenant: string, text: string): Promise<readonly string[]> => {
    const { extensions } = await gateway.askAs(tenant, text, { extensions: { explain: 'plan' } });
    const calls = at(extensions, 'explain', 'calls');
    return Array.isArray(calls) ? calls.map((call) => `${String(at(call, 'upper'))} ${textAt(call, 'operation')}`) : [];
  };
  const query = '{ project(id: 1) { name dashboards { nodes { name } } } }';
  expect(await plan('acme', query)).toEqual([]);
  expect(await plan('wide', query)).toHaveLength(2);
  expect(await plan('acme', `{ node(id: "${globalId('Dashboard:1:7')}") { id } }`)).toEqual([]);
  expect(await plan('acme', '{ projects { totalCount pageInfo { hasNextPage } } }')).toEqual([]);
  expect(await plan('acme', '{ projects { nodes { name dashboards { nodes { name } } } } }')).toEqual([
    '2 getProject',
    '2 listDashboards',
  ]);
  expect(await plan('acme', 'mutation { deleteProject(input: { id: 1 }) { deletedId } }')).toEqual([]);
  expect(upstream.requests).toEqual([]);
});

test('tenants with one key share its reads, and no whole operations', async () => {
  const { upstream, gateway } = await start(entries, {}, { hold: 1000 });
  const query = '{ project(id: 2) { name } other: project(id: 1) { name } }';
  const answers = Promise.all(['acme', 'wide', 'acme', 'wide'].map((tenant) => gateway.askAs(tenant, query)));
  await until(() => upstream.requests.length >= 2);
  await pause(50);
  upstream.release();
  const narrow = { project: { name: 'Project 2' }, other: null };
  const wide = { project: { name: 'Project 2' }, other: { name: 'Project 1' } };
  expect((await answers).map(({ data }) => data as unknown)).toEqual([narrow, wide, narrow, wide]);
  expect(upstream.requests.toSorted()).toEqual(['GET /api/projects/1/', 'GET /api/projects/2/']);
});

test('tenants with one key take turns: one that wants much leaves the other a place in the queue', async () => {
  const both: Entries = { much: { key: 'phx_shared' }, little: { key: 'phx_shared' } };
  const limited = { maxUpstreamInFlight: 2, operationDeadlineMs: 60_000 };
  const { upstream, gateway } = await start(both, limited, { hold: 1000 });
  const read = (tenant: string, id: number): Promise<Answer> =>
    gateway.askAs(tenant, `{ project(id: ${id}) { name } }`);
  const { limiter } = gateway.gateway.resources;
  // Two in flight. Of the sixteen places in the queue a tenant has half, and one of its users half of those.
  const many = Promise.all([1, 2, 3, 4, 5, 6].map((id) => read('much', id)));
  await expect.poll(() => limiter.queued).toBe(4);
  const refused = codesOf(await read('much', 7));
  const one = read('little', 8);
  await expect.poll(() => limiter.queued).toBe(5);
  upstream.release();
  expect([refused, (await one).data]).toEqual([['OVERLOADED'], { project: { name: 'Project 8' } }]);
  expect((await many).flatMap((answer) => codesOf(answer))).toEqual([]);
});

test('an operation under way keeps the entry that it began with', async () => {
  const { upstream, gateway } = await start(entries, {}, { hold: 1000 });
  const query = '{ project(id: 2) { name dashboard(id: 7) { name tiles } } }';
  const answer = gateway.askAs('acme', query);
  await until(() => upstream.requests.length >= 2);
  gateway.take({ acme: { key: 'phx_other', projects: [] } });
  expect((await gateway.askAs('acme', query)).data).toEqual({ project: null });
  upstream.release();
  expect(at((await answer).data, 'project', 'name')).toBe('Project 2');
});

test("a key that the upstream does not take is the operator's fault", async () => {
  const unauthenticated = {
    type: 'authentication_error',
    code: 'authentication_failed',
    detail: 'Invalid key phx_shared',
  };
  const logged: unknown[] = [];
  const { gateway } = await startBothTenants(
    ({ headers }) =>
      headers.authorization === 'Bearer phx_shared'
        ? reply({ status: 401, body: JSON.stringify(unauthenticated) })
        : project(1),
    { ...entries, good: { key: 'phx_good' } },
    { log: (level, message, facts) => logged.push({ level, message, ...facts }) },
  );
  for (const query of ['{ project(id: 2) { name } }', '{ again: project(id: 2) { name } }']) {
    const answer = await gateway.askAs('acme', query);
    expect([answer.status, codesOf(answer), answer.errors?.[0]?.extensions]).toEqual([
      200,
      ['UPSTREAM_UNAVAILABLE'],
      { code: 'UPSTREAM_UNAVAILABLE' },
    ]);
  }
  expect((await gateway.askAs('good', '{ project(id: 1) { name } }')).data).toEqual({ project: { name: 'Project 1' } });
  const told = { level: 'error', message: 'the upstream rejects the key of a tenant', tenant: 'acme' };
  expect(logged.filter((line) => JSON.stringify(line).includes('rejects the key'))).toEqual([told]);
  expect(await gateway.gateway.metrics.render()).toContain('gateway_held_key_refusals_total 1\n');
  expect(JSON.stringify(logged)).not.toContain('phx_shared');
});
