import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { at } from '../support/connections.ts';
import {
  askPlanned,
  dig,
  globalId,
  organizationId,
  otherOrganization,
  currentRoutes as routes,
} from '../support/current.ts';
import { listOf } from '../support/lists.ts';
import { linesOf, planOf } from '../support/plans.ts';
import { refusal } from '../support/replies.ts';
import { dashboard, plugin } from '../support/rows.ts';

const current = '/api/projects/@current/';
const plugins = '/api/organizations/@current/plugins/';

/** Queries below `@current`, each with the path of an id in the answer, that id, and the calls that the query costs. */
const reads: readonly (readonly [query: string, path: string, id: string, calls: readonly string[]])[] = [
  ['project(id: "@current") { id }', 'project.id', 'Project:7', [current]],
  [
    'project(id: "@current") { dashboard(id: 2) { project { id } } }',
    'project.dashboard.project.id',
    'Project:7',
    [current, `${current}dashboards/2/`],
  ],
  [
    'project(id: "@current") { dashboards { nodes { id } } }',
    'project.dashboards.nodes.0.id',
    'Dashboard:7:2',
    [current, `${current}dashboards/?limit=50`],
  ],
  [
    'project(id: "@current") { dashboards { edges { node { id tiles } } } }',
    'project.dashboards.edges.0.node.id',
    'Dashboard:7:2',
    [current, `${current}dashboards/2/`, `${current}dashboards/3/`, `${current}dashboards/?limit=50`],
  ],
  [
    'project(id: "@current") { dashboard(id: 2) { id name } }',
    'project.dashboard.id',
    'Dashboard:7:2',
    [current, `${current}dashboards/2/`],
  ],
  [
    'project(id: "@current") { dashboard(id: 2) { useDashboard { id } } }',
    'project.dashboard.useDashboard.id',
    'Dashboard:7:3',
    [current, `${current}dashboards/2/`],
  ],
  ['project(id: "@current") { primaryDashboard { id } }', 'project.primaryDashboard.id', 'Dashboard:7:2', [current]],
  [
    'project(id: "@current") { events { nodes { id } } }',
    'project.events.nodes.0.id',
    'Event:7:e',
    [current, `${current}events/?limit=50`],
  ],
  [
    'project(id: "@current") { event(id: "e") { id } }',
    'project.event.id',
    'Event:7:e',
    [current, `${current}events/e/`],
  ],
  [
    'project(id: "@current") { organization { id } }',
    'project.organization.id',
    `Organization:${organizationId}`,
    [current],
  ],
  ['organization(id: "@current") { id }', 'organization.id', `Organization:${organizationId}`, [current]],
  [
    'organization(id: "@current") { plugins { nodes { id } } }',
    'organization.plugins.nodes.0.id',
    `Plugin:${organizationId}:5`,
    [`${plugins}?limit=50`],
  ],
  [
    'organization(id: "@current") { plugin(id: 5) { id source { body } } }',
    'organization.plugin.id',
    `Plugin:${organizationId}:5`,
    [`${plugins}5/`, `${plugins}5/source/`],
  ],
  [
    'organization(id: "@current") { plugins { nodes { organization { id } } } }',
    'organization.plugins.nodes.0.organization.id',
    `Organization:${organizationId}`,
    [`${plugins}?limit=50`],
  ],
];

describe('below @current', () => {
  test.each(reads)('%s names the real project or organization', async (selection, path, id, calls) => {
    const { upstream, gateway } = await startBoth({ ...routes, [`GET ${plugins}5/source/`]: {} });
    const answer = await askPlanned(gateway, upstream, `{ ${selection} }`);
    expect(answer.errors).toBeUndefined();
    expect(dig(answer.data, path)).toBe(globalId(id));
    expect(upstream.requests.toSorted()).toEqual(calls.map((call) => `GET ${call}`).toSorted());
  });

  test('upstream ids are the real ones', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const answer = await askPlanned(
      gateway,
      upstream,
      '{ project(id: "@current") { upstreamId } organization(id: "@current") { upstreamId } }',
    );
    expect(answer.data).toEqual({ project: { upstreamId: '7' }, organization: { upstreamId: organizationId } });
    expect(upstream.requests).toEqual([`GET ${current}`]);
  });

  test('nothing waits for the project, and its row is not read, if no id is selected', async () => {
    const { upstream, gateway } = await startBoth(routes, {}, { quiet: 25 });
    const answer = await askPlanned(
      gateway,
      upstream,
      `{ project(id: "@current") { dashboards(first: 2) { nodes { name upstreamId } edges { cursor } } events { nodes { event } } }
         organization(id: "@current") { plugins { nodes { name } } } }`,
    );
    expect(answer.errors).toBeUndefined();
    expect(upstream.requests).toHaveLength(3);
    expect(upstream.requests).not.toContain(`GET ${current}`);
    expect(upstream.waves()).toBe(1);
  });

  test('ids wait for no further wave: what they need is read beside their rows', async () => {
    const { upstream, gateway } = await startBoth(routes, {}, { quiet: 25 });
    await askPlanned(
      gateway,
      upstream,
      '{ project(id: "@current") { dashboards { nodes { id name } } events { nodes { id } } } }',
    );
    expect(upstream.requests).toHaveLength(3);
    expect(upstream.waves()).toBe(1);
  });

  test('one object has one id, however it is asked for', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const answer = await askPlanned(
      gateway,
      upstream,
      `{ a: project(id: "@current") { id dashboards { nodes { id } } event(id: "e") { id } }
         b: project(id: 7) { id dashboards { nodes { id } } event(id: "e") { id } }
         c: organization(id: "@current") { id plugins { nodes { id } } }
         d: organization(id: "${organizationId.toUpperCase()}") { id plugins { nodes { id } } } }`,
    );
    expect(answer.errors).toBeUndefined();
    expect(at(answer.data, 'a')).toEqual(at(answer.data, 'b'));
    expect(at(answer.data, 'c')).toEqual(at(answer.data, 'd'));
    expect(upstream.requests.join()).not.toContain(organizationId.toUpperCase());
  });

  test('the row of the project answers it under its id, too', async () => {
    const { upstream, gateway } = await startBoth({
      ...routes,
      'GET /api/projects/7/dashboards/2/': dashboard(2, { use_dashboard: 3 }),
    });
    const answer = await askPlanned(
      gateway,
      upstream,
      `{ project(id: "@current") { name } node(id: "${globalId('Dashboard:7:2')}") { ... on Dashboard { useDashboard { project { name } } } } }`,
    );
    expect(answer.data).toMatchObject({ node: { useDashboard: { project: { name: 'Project 7' } } } });
    expect(upstream.requests.length).toBeLessThanOrEqual(3);
  });

  test('an id of a plugin that every organization lists costs one call, if no other plugin tells whose list it is', async () => {
    const shared = plugin(6, { is_global: true, organization_id: otherOrganization });
    const { upstream, gateway } = await startBoth({ ...routes, [`GET ${plugins}`]: listOf([shared]) });
    const query = '{ organization(id: "@current") { plugins { nodes { id } } } }';
    const answer = await askPlanned(gateway, upstream, query);
    expect(dig(answer.data, 'organization.plugins.nodes.0.id')).toBe(globalId(`Plugin:${organizationId}:6`));
    expect(upstream.requests).toEqual([`GET ${plugins}?limit=50`, `GET ${current}`]);
    expect(linesOf(planOf(query))).toEqual([
      '1 1 listPlugins organization.plugins',
      '2 0–1 getProject organization.plugins.nodes',
    ]);
  });

  test('what is read below a plugin that every organization lists waits for its id, as was planned', async () => {
    const shared = plugin(6, { is_global: true, organization_id: otherOrganization });
    const others = `/api/organizations/${otherOrganization}/plugins/`;
    const { upstream, gateway } = await startBoth({
      ...routes,
      [`GET ${plugins}6/`]: shared,
      [`GET ${others}`]: listOf([shared]),
    });
    const query = '{ organization(id: "@current") { plugin(id: 6) { id organization { plugins { totalCount } } } } }';
    const answer = await askPlanned(gateway, upstream, query);
    expect(dig(answer.data, 'organization.plugin.organization.plugins.totalCount')).toBe(1);
    expect(upstream.requests).toEqual([`GET ${plugins}6/`, `GET ${current}`, `GET ${others}?limit=1`]);
    expect(planOf(query)).toMatchObject({ lower: 1, upper: 3, waves: 3 });
  });

  test('ids of plugins that a report names cost one call together', async () => {
    const { upstream, gateway } = await startBoth({ ...routes, [`GET ${plugins}unused/`]: [5, 6, 7] });
    const answer = await askPlanned(gateway, upstream, '{ organization(id: "@current") { unusedPlugins { id } } }');
    expect(answer.errors).toBeUndefined();
    expect(answer.data).toEqual({
      organization: { unusedPlugins: [5, 6, 7].map((id) => ({ id: globalId(`Plugin:${organizationId}:${id}`) })) },
    });
    expect(upstream.requests).toEqual([`GET ${plugins}unused/`, `GET ${current}`]);
  });

  test('an organization has its name, in whichever letters its plugins write its id', async () => {
    const capitals = plugin(5, { organization_id: organizationId.toUpperCase() });
    const { upstream, gateway } = await startBoth({ 'GET /api/organizations/:id/plugins/': listOf([capitals]) });
    const answer = await askPlanned(
      gateway,
      upstream,
      `{ organization(id: "${organizationId}") { name plugins { nodes { organization { id upstreamId } } } } }`,
    );
    const organization = { id: globalId(`Organization:${organizationId}`), upstreamId: organizationId };
    expect(answer.data).toEqual({ organization: { name: 'Acme', plugins: { nodes: [{ organization }] } } });
  });

  test('ids fail with the reason, and nothing else does, if the project cannot be read', async () => {
    const { upstream, gateway } = await startBoth({
      ...routes,
      [`GET ${current}`]: refusal(403, 'permission_denied', 'No access.'),
    });
    const answer = await askPlanned(
      gateway,
      upstream,
      '{ project(id: "@current") { a: dashboards { nodes { name } } b: dashboards(first: 1) { nodes { id } } } }',
    );
    expect(answer.data).toMatchObject({
      project: { a: { nodes: [{ name: 'Dashboard 2' }, { name: 'Dashboard 3' }] }, b: { nodes: [null] } },
    });
    expect(new Set(answer.errors?.map(({ extensions }) => extensions['code']))).toEqual(new Set(['FORBIDDEN']));
  });

  test('the project of an operation that once planned two calls too few is one project', async () => {
    const { upstream, gateway } = await startBoth({
      ...routes,
      [`GET ${current}events/nope/`]: refusal(404, 'not_found', 'Not found.'),
    });
    const query = `{ project(id: "@current") { upstreamId events(first: 30) { nodes { id properties } }
      primaryDashboard { project { name } filters id } event(id: "nope") { id } } }`;
    const answer = await askPlanned(gateway, upstream, query);
    expect(answer.data).toMatchObject({
      project: {
        upstreamId: '7',
        primaryDashboard: { id: globalId('Dashboard:7:2'), project: { name: 'Project 7' } },
        event: null,
      },
    });
    expect(upstream.requests).toHaveLength(4);
  });
});
