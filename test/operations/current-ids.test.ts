import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import {
  askPlanned,
  dig,
  globalId,
  organizationId,
  otherOrganization,
  currentRoutes as routes,
} from '../support/current.ts';
import { linesOf, planOf } from '../support/plans.ts';
import { askThrice } from '../support/repeat.ts';
import { refusal, reply } from '../support/replies.ts';
import { dashboard, plugin, project } from '../support/rows.ts';

const projects = '/api/projects/';
const current = '/api/projects/@current/';

describe('a global id below @current', () => {
  test.each([
    ['Dashboard:7:2', 'project(id: "@current") { dashboard(id: $id) { id name } }', `${projects}7/dashboards/2/`],
    ['Event:7:e', 'project(id: "@current") { event(id: $id) { id event } }', `${projects}7/events/e/`],
    [
      `Plugin:${organizationId}:5`,
      'organization(id: "@current") { plugin(id: $id) { id name } }',
      `/api/organizations/${organizationId}/plugins/5/`,
    ],
  ])('%s is followed once it is known to be of that project or organization', async (text, selection, call) => {
    const { upstream, gateway } = await startBoth(routes);
    const answer = await askThrice(gateway, upstream, `query ($id: ID!) { ${selection} }`, {
      variables: { id: globalId(text) },
    });
    expect(answer.errors).toBeUndefined();
    expect(JSON.stringify(answer.data)).toContain(globalId(text));
    expect(upstream.requests).toEqual([`GET ${current}`, `GET ${call}`]);
    expect(
      linesOf(planOf(`query ($id: ID!) { ${selection} }`, { id: globalId(text) })).map((line) => line.slice(0, 7)),
    ).toEqual(['1 1 get', '2 0–1 g']);
  });

  test.each([
    ['Dashboard:8:2', 'project(id: "@current") { dashboard(id: $id) { name } }'],
    ['Event:8:e', 'project(id: "@current") { event(id: $id) { event } }'],
    [`Plugin:${otherOrganization}:5`, 'organization(id: "@current") { plugin(id: $id) { name } }'],
  ])('%s of another one is refused', async (text, selection) => {
    const { upstream, gateway } = await startBoth(routes);
    const { errors } = await askThrice(gateway, upstream, `query ($id: ID!) { ${selection} }`, {
      variables: { id: globalId(text) },
    });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors?.[0]?.message).toContain('belongs to another');
    expect(upstream.requests).toEqual([`GET ${current}`]);
  });

  test('with @current in it is refused, and the message says what to do', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const { errors } = await gateway.ask(`{ node(id: "${globalId('Dashboard:@current:2')}") { id } }`);
    expect(errors?.map(({ message }) => message)).toEqual([
      'Expected the global id of a Dashboard to name its own Project, but got one with @current, which does not mean the same for every key. Ask for the object again.',
    ]);
    expect(upstream.requests).toEqual([]);
  });
});

describe('a mutation below @current', () => {
  const written = {
    ...routes,
    'PATCH /api/projects/:id/': project(7),
    'DELETE /api/projects/:id/': reply({ status: 204 }),
    'POST /api/projects/:id/dashboards/': dashboard(2),
    'PATCH /api/projects/:id/dashboards/2/': dashboard(2),
    'POST /api/organizations/:id/plugins/': plugin(5),
    'PATCH /api/organizations/:id/plugins/5/': plugin(5),
    'DELETE /api/organizations/:id/plugins/5/': reply({ status: 204 }),
  };
  const mutations: readonly (readonly [query: string, path: string, id: string, calls: readonly string[]])[] = [
    [
      'updateProject(input: { id: "@current", name: "x" }) { project { id } }',
      'updateProject.project.id',
      'Project:7',
      [`PATCH ${current}`],
    ],
    [
      'deleteProject(input: { id: "@current" }) { deletedId }',
      'deleteProject.deletedId',
      'Project:7',
      [`GET ${current}`, 'DELETE /api/projects/7/'],
    ],
    [
      'createDashboard(input: { projectId: "@current", name: "x" }) { dashboard { id name } }',
      'createDashboard.dashboard.id',
      'Dashboard:7:2',
      [`GET ${current}`, 'POST /api/projects/7/dashboards/'],
    ],
    [
      'updateDashboard(input: { id: 2, projectId: "@current" }) { dashboard { id project { id } } }',
      'updateDashboard.dashboard.project.id',
      'Project:7',
      [`GET ${current}`, 'PATCH /api/projects/7/dashboards/2/'],
    ],
    [
      'deleteDashboard(input: { id: 2, projectId: "@current" }) { deletedId }',
      'deleteDashboard.deletedId',
      'Dashboard:7:2',
      [`GET ${current}`, 'PATCH /api/projects/7/dashboards/2/'],
    ],
    [
      'createPlugin(input: { organizationId: "@current", name: "x" }) { plugin { id } }',
      'createPlugin.plugin.id',
      `Plugin:${organizationId}:5`,
      [`GET ${current}`, `POST /api/organizations/${organizationId}/plugins/`],
    ],
    [
      'deletePlugin(input: { id: 5, organizationId: "@current" }) { deletedId }',
      'deletePlugin.deletedId',
      `Plugin:${organizationId}:5`,
      [`GET ${current}`, `DELETE /api/organizations/${organizationId}/plugins/5/`],
    ],
    [
      'deletePlugin(input: { id: 5, organizationId: "018F1C4E-0000-7000-8000-00000000000A" }) { deletedId }',
      'deletePlugin.deletedId',
      `Plugin:${organizationId}:5`,
      [`DELETE /api/organizations/${organizationId}/plugins/5/`],
    ],
  ];

  test.each(mutations)('%s answers the real id, and writes to just that object', async (mutation, path, id, calls) => {
    const { upstream, gateway } = await startBoth(written);
    const query = `mutation { ${mutation} }`;
    const answer = await askPlanned(gateway, upstream, query);
    expect(answer.errors).toBeUndefined();
    expect(dig(answer.data, path)).toBe(globalId(id));
    expect(upstream.requests).toEqual(calls);
    expect(planOf(query).lower).toBe(calls.length);
  });

  test('is one call if no id is asked for', async () => {
    const { upstream, gateway } = await startBoth(written);
    const answer = await askPlanned(
      gateway,
      upstream,
      'mutation { deleteDashboard(input: { id: 2, projectId: "@current" }) { dashboard { name } } }',
    );
    expect(answer.data).toEqual({ deleteDashboard: { dashboard: { name: 'Dashboard 2' } } });
    expect(upstream.requests).toEqual([`PATCH ${current}dashboards/2/`]);
  });

  test.each([
    [
      `updateDashboard(input: { id: "${globalId('Dashboard:8:2')}", projectId: "@current", name: "x" }) { dashboard { name } }`,
    ],
    [
      `createDashboard(input: { projectId: "@current", useDashboardId: "${globalId('Dashboard:8:2')}" }) { dashboard { name } }`,
    ],
    [
      `updateProject(input: { id: "@current", primaryDashboardId: "${globalId('Dashboard:8:2')}" }) { project { name } }`,
    ],
  ])('writes nothing if a global id is of another project: %s', async (mutation) => {
    const { upstream, gateway } = await startBoth(written);
    const { errors } = await askPlanned(gateway, upstream, `mutation { ${mutation} }`);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(upstream.requests).toEqual([`GET ${current}`]);
  });

  test('writes nothing if the project cannot be read and its id is asked for', async () => {
    const { upstream, gateway } = await startBoth({
      ...written,
      [`GET ${current}`]: refusal(403, 'permission_denied', 'No access.'),
    });
    const { errors } = await gateway.ask(
      'mutation { deleteDashboard(input: { id: 2, projectId: "@current" }) { deletedId } }',
    );
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    expect(upstream.requests).toEqual([`GET ${current}`]);
  });
});
