import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { key } from '../support/gateway.ts';
import { dashboard, plugin, project } from '../support/rows.ts';
import { documented } from './document.ts';
import { globalId, organizationId, type Reach, reaches } from './operation-table.ts';
import { askThriceExactly } from './thrice.ts';

/** The delete of a dashboard answers 405 whatever it is sent, so nothing sends it. */
const unreachable = 'deleteDashboard';

test('the table has every operation of the OpenAPI document but the one that is always refused', () => {
  const reached = new Set([...reaches.map(({ operation }) => operation), unreachable]);
  expect([...reached].toSorted()).toEqual([...documented.keys()].toSorted());
  expect(reached.size).toBe(28);
});

test.each(reaches)('$query makes exactly the request $request', async (reach) => {
  const { upstream, gateway } = await startBoth({ [reach.request]: reach.answer });
  const { status, data, errors } = await askThriceExactly(gateway, upstream, reach.query);
  expect({ status, data, errors }).toStrictEqual({ status: 200, data: reach.data, errors: undefined });
  const sent = upstream.records.map(({ method, target, headers, body }) => ({
    request: `${method} ${target}`,
    contentType: headers['content-type'],
    accept: headers.accept,
    authorization: headers.authorization,
    body,
  }));
  const contentType = reach.body === undefined ? undefined : 'application/json';
  expect(sent).toStrictEqual([
    {
      request: reach.request,
      contentType,
      accept: 'application/json',
      authorization: `Bearer ${key}`,
      body: reach.body ?? '',
    },
  ]);
});

test.each(reaches)('$request is what the OpenAPI document calls $operation', (reach) => {
  const operation = documented.get(reach.operation);
  if (operation === undefined) throw new Error(`the document has no ${reach.operation}`);
  expect(reach.request).toMatch(lineOf(operation));
  expect(reach.body !== undefined).toBe(operation.hasBody);
});

test('no operation is reached by a request that another one answers, too', () => {
  const several = reaches.filter((reach) => matchesOf(reach).length !== 1);
  // A fixed segment stands where another operation has an id: the fixed one wins.
  expect(several.map((reach) => [reach.operation, matchesOf(reach).toSorted()])).toEqual([
    ['listEventValues', ['getEvent', 'listEventValues']],
    ['listPluginActivity', ['getPlugin', 'listPluginActivity']],
    ['listPluginExportsUnsubscribeConfigs', ['getPlugin', 'listPluginExportsUnsubscribeConfigs']],
    ['listPluginRepository', ['getPlugin', 'listPluginRepository']],
    ['listUnusedPlugins', ['getPlugin', 'listUnusedPlugins']],
  ]);
});

describe('a write', () => {
  const raw: readonly (readonly [string, string, string, string])[] = [
    ['deleteProject', 'id: 5', `id: "${globalId('Project', '5')}"`, globalId('Project', '5')],
    [
      'deleteDashboard',
      'id: 5, projectId: 1',
      `id: "${globalId('Dashboard', '1', '5')}"`,
      globalId('Dashboard', '1', '5'),
    ],
    [
      'deletePlugin',
      `id: 5, organizationId: "${organizationId}"`,
      `id: "${globalId('Plugin', organizationId, '5')}"`,
      globalId('Plugin', organizationId, '5'),
    ],
  ];

  test.each(raw)('%s answers the global id, whichever form the id had', async (mutation, upstreamForm, form, id) => {
    const { upstream, gateway } = await startBoth(() => dashboard(5, { deleted: true }));
    const answer = await askThriceExactly(
      gateway,
      upstream,
      `mutation {
      a: ${mutation}(input: { ${upstreamForm} }) { deletedId }
      b: ${mutation}(input: { ${form} }) { deletedId }
    }`,
    );
    expect(answer.errors).toBeUndefined();
    expect(answer.data).toEqual({ a: { deletedId: id }, b: { deletedId: id } });
    expect(new Set(upstream.requests).size).toBe(1);
  });

  test.each([
    ['createProject(input: {})', 'project', project(5), 'sessionRecordingSampleRate', '0.50'],
    ['updateProject(input: { id: 5 })', 'project', project(5), 'weekStartDay', 'MONDAY'],
    ['createDashboard(input: { projectId: 1 })', 'dashboard', dashboard(5), 'useTemplate', 'Product analytics'],
    ['updateDashboard(input: { id: 5, projectId: 1 })', 'dashboard', dashboard(5), 'useDashboardId', '3'],
    ['deleteDashboard(input: { id: 5, projectId: 1 })', 'dashboard', dashboard(5), 'deleteInsights', false],
    ['restoreDashboard(input: { id: 5, projectId: 1 })', 'dashboard', dashboard(5), 'filters', { date_from: '-7d' }],
    [
      'moveDashboardTile(input: { id: 5, projectId: 1, tileId: 1, toDashboardId: 2 })',
      'dashboard',
      dashboard(5),
      'useDashboardId',
      '3',
    ],
    [
      'createDashboardFromTemplate(input: { projectId: 1, template: {} })',
      'dashboard',
      dashboard(5),
      'deleteInsights',
      false,
    ],
    [`createPlugin(input: { organizationId: "${organizationId}" })`, 'plugin', plugin(5), 'latestTag', 'v1.1.0'],
    [`updatePlugin(input: { id: 5, organizationId: "${organizationId}" })`, 'plugin', plugin(5), 'tag', 'v1.0.0'],
    [
      `updatePluginSource(input: { id: 5, organizationId: "${organizationId}", deletedFiles: ["a.ts"] })`,
      'plugin',
      plugin(5),
      'tag',
      'v1.0.0',
    ],
    [`upgradePlugin(input: { id: 5, organizationId: "${organizationId}" })`, 'plugin', plugin(5), 'tag', 'v1.0.0'],
    [
      `checkPluginForUpdates(input: { id: 5, organizationId: "${organizationId}" })`,
      'plugin',
      plugin(5),
      'latestTag',
      'v1.1.0',
    ],
  ] as const)('%s answers the entity out of the same call, detail view and all', async (...row) => {
    const [mutation, entity, answered, field, expected] = row;
    const { upstream, gateway } = await startBoth(() => answered);
    const answer = await askThriceExactly(
      gateway,
      upstream,
      `mutation { payload: ${mutation} { ${entity} { upstreamId ${field} } } }`,
    );
    expect(answer.errors).toBeUndefined();
    expect(answer.data).toEqual({ payload: { [entity]: { upstreamId: '5', [field]: expected } } });
    expect(upstream.requests).toHaveLength(1);
  });

  test('a deleted project comes along if the upstream answers it', async () => {
    const { upstream, gateway } = await startBoth({ 'DELETE /api/projects/5/': project(5) });
    const { data } = await askThriceExactly(
      gateway,
      upstream,
      'mutation { deleteProject(input: { id: 5 }) { project { id name } } }',
    );
    expect(data).toEqual({ deleteProject: { project: { id: globalId('Project', '5'), name: 'Project 5' } } });
    expect(upstream.requests).toEqual(['DELETE /api/projects/5/']);
  });
});

/** The request lines that a documented operation answers. */
function lineOf({ method, path }: { readonly method: string; readonly path: string }): RegExp {
  const segments = path.split('/').map((segment) => (segment.startsWith('{') ? '[^/]+' : RegExp.escape(segment)));
  return new RegExp(`^${method} ${segments.join('/')}(?:\\?|$)`);
}

/** The operations of the document that a request line fits. */
function matchesOf({ request }: Reach): string[] {
  return [...documented].filter(([, operation]) => lineOf(operation).test(request)).map(([name]) => name);
}
