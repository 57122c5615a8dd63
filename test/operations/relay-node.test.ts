import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { at, textAt } from '../support/connections.ts';
import { globalId, organizationId } from '../support/current.ts';
import { listOf } from '../support/lists.ts';
import { askThrice } from '../support/repeat.ts';
import { refusal } from '../support/replies.ts';
import { dashboard, event, listedDashboard, listedProject, plugin, project } from '../support/rows.ts';

const eventId = textAt(event(4), 'id');

const routes = {
  'GET /api/projects/': listOf([listedProject(1), listedProject(2)]),
  'GET /api/projects/1/': project(1),
  'GET /api/projects/1/dashboards/': listOf([listedDashboard(3)]),
  'GET /api/projects/1/dashboards/3/': dashboard(3),
  'GET /api/projects/1/events/': { next: null, results: [event(4)] },
  [`GET /api/projects/1/events/${eventId}/`]: event(4),
  [`GET /api/organizations/${organizationId}/plugins/`]: listOf([plugin(5)]),
  [`GET /api/organizations/${organizationId}/plugins/5/`]: plugin(5),
};

describe('node', () => {
  const ids: readonly (readonly [type: string, query: string, path: readonly (string | number)[], call: string[]])[] = [
    ['Project', '{ projects { nodes { id } } }', ['projects', 'nodes', 0, 'id'], ['GET /api/projects/1/']],
    ['Project', '{ project(id: 1) { id } }', ['project', 'id'], ['GET /api/projects/1/']],
    [
      'Dashboard',
      '{ project(id: 1) { dashboards { nodes { id } } } }',
      ['project', 'dashboards', 'nodes', 0, 'id'],
      ['GET /api/projects/1/dashboards/3/'],
    ],
    [
      'Dashboard',
      '{ project(id: 1) { dashboard(id: 3) { id } } }',
      ['project', 'dashboard', 'id'],
      ['GET /api/projects/1/dashboards/3/'],
    ],
    [
      'Event',
      '{ project(id: 1) { events { edges { node { id } } } } }',
      ['project', 'events', 'edges', 0, 'node', 'id'],
      [`GET /api/projects/1/events/${eventId}/`],
    ],
    [
      'Event',
      `{ project(id: 1) { event(id: "${eventId}") { id } } }`,
      ['project', 'event', 'id'],
      [`GET /api/projects/1/events/${eventId}/`],
    ],
    [
      'Plugin',
      `{ organization(id: "${organizationId}") { plugins { nodes { id } } } }`,
      ['organization', 'plugins', 'nodes', 0, 'id'],
      [`GET /api/organizations/${organizationId}/plugins/5/`],
    ],
    [
      'Plugin',
      `{ organization(id: "${organizationId}") { plugin(id: 5) { id } } }`,
      ['organization', 'plugin', 'id'],
      [`GET /api/organizations/${organizationId}/plugins/5/`],
    ],
    ['Organization', '{ project(id: 1) { organization { id } } }', ['project', 'organization', 'id'], []],
    ['Organization', `{ organization(id: "${organizationId}") { id } }`, ['organization', 'id'], []],
  ];

  test.each(ids)('finds a %s again by the id that %s answered', async (type, query, path, calls) => {
    const { upstream, gateway } = await startBoth(routes);
    const id = textAt((await gateway.ask(query)).data, ...path);
    expect(id).toMatch(/^[\w-]+$/);
    upstream.reset();
    const again = await gateway.ask('query ($id: ID!) { node(id: $id) { __typename id } }', { variables: { id } });
    expect(again.errors).toBeUndefined();
    expect(again.data).toEqual({ node: { __typename: type, id } });
    expect(upstream.requests).toEqual(calls);
  });

  test('answers columns and relations of every type through fragments', async () => {
    const { upstream, gateway } = await startBoth(routes, {}, { quiet: 25 });
    const answer = await gateway.ask(
      `query ($ids: [ID!]!) { nodes(ids: $ids) {
        __typename
        ... on Project { name }
        ... on Dashboard { name project { upstreamId } }
        ... on Event { event }
        ... on Plugin { name organization { upstreamId } }
        ... on Organization { upstreamId }
      } }`,
      {
        variables: {
          ids: [
            `Project:1`,
            `Dashboard:1:3`,
            `Event:1:${eventId}`,
            `Plugin:${organizationId}:5`,
            `Organization:${organizationId}`,
          ].map(globalId),
        },
      },
    );
    expect(answer.errors).toBeUndefined();
    expect(answer.data).toEqual({
      nodes: [
        { __typename: 'Project', name: 'Project 1' },
        { __typename: 'Dashboard', name: 'Dashboard 3', project: { upstreamId: '1' } },
        { __typename: 'Event', event: '$pageview' },
        { __typename: 'Plugin', name: 'Plugin 5', organization: { upstreamId: organizationId } },
        { __typename: 'Organization', upstreamId: organizationId },
      ],
    });
    expect(upstream.requests).toHaveLength(4);
    expect(upstream.waves()).toBe(1);
  });

  test('is null without an error for what does not exist, at the cost of one call', async () => {
    const { upstream, gateway } = await startBoth({});
    for (const text of ['Project:9', 'Dashboard:1:9', 'Event:1:gone', `Plugin:${organizationId}:9`]) {
      upstream.reset();
      const answer = await gateway.ask(`{ node(id: "${globalId(text)}") { id } }`);
      expect(answer.errors).toBeUndefined();
      expect(answer.data).toEqual({ node: null });
      expect(upstream.requests).toHaveLength(1);
    }
  });

  test('is an error if the object cannot be read for another reason', async () => {
    const { upstream, gateway } = await startBoth(() => refusal(403, 'permission_denied', 'No access.'));
    const answer = await gateway.ask(`{ node(id: "${globalId('Dashboard:1:3')}") { id } }`);
    expect(answer.data).toEqual({ node: null });
    expect(answer.errors).toMatchObject([{ path: ['node'], extensions: { code: 'FORBIDDEN' } }]);
    expect(upstream.requests).toEqual(['GET /api/projects/1/dashboards/3/']);
  });
});

describe('nodes', () => {
  test('answers in the order of the ids, one call for each different object and null for what is absent', async () => {
    const { upstream, gateway } = await startBoth(
      {
        'GET /api/projects/1/dashboards/3/': dashboard(3),
        'GET /api/projects/1/': project(1),
      },
      {},
      { quiet: 25 },
    );
    const texts = ['Dashboard:1:3', 'Project:1', 'Dashboard:1:4', 'Dashboard:1:3', 'Project:1'];
    const answer = await askThrice(gateway, upstream, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      variables: { ids: texts.map(globalId) },
    });
    expect(answer.errors).toBeUndefined();
    expect(answer.data).toEqual({
      nodes: texts.map((text) => (text === 'Dashboard:1:4' ? null : { id: globalId(text) })),
    });
    expect(upstream.requests.toSorted()).toEqual([
      'GET /api/projects/1/',
      'GET /api/projects/1/dashboards/3/',
      'GET /api/projects/1/dashboards/4/',
    ]);
    expect(upstream.waves()).toBe(1);
  });

  test('answers the others if one of them fails', async () => {
    const { upstream, gateway } = await startBoth({
      'GET /api/projects/1/': project(1),
      'GET /api/projects/2/': refusal(500, 'error', 'A server error occurred.'),
    });
    const ids = ['Project:1', 'Project:2'].map(globalId);
    const answer = await askThrice(gateway, upstream, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      variables: { ids },
    });
    expect(answer.data).toEqual({ nodes: [{ id: ids[0] }, null] });
    expect(answer.errors).toMatchObject([{ path: ['nodes', 1], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  });

  test('of none costs nothing, and of more than the page maximum is refused without a call', async () => {
    const { upstream, gateway } = await startBoth({}, { maxPageSize: 10 });
    expect((await askThrice(gateway, upstream, '{ nodes(ids: []) { id } }')).data).toEqual({ nodes: [] });
    const ids = Array.from({ length: 11 }, (_, index) => globalId(`Project:${index}`));
    const answer = await askThrice(gateway, upstream, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      variables: { ids },
    });
    expect(answer.errors).toMatchObject([
      { message: 'Expected at most 10 `ids`, but got 11.', extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(upstream.requests).toEqual([]);
  });

  test('answers the others if one of the ids is malformed, which the message quotes', async () => {
    const { upstream, gateway } = await startBoth({ 'GET /api/projects/1/': project(1) });
    const ids = [globalId('Project:1'), '1/../2'];
    const answer = await askThrice(gateway, upstream, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      variables: { ids },
    });
    expect(at(answer.data, 'nodes')).toEqual([{ id: ids[0] }, null]);
    expect(answer.errors?.map(({ message, path }) => [message, path])).toEqual([
      ['Expected `ids` to be a global id, but got "1/../2".', ['nodes', 1]],
    ]);
    expect(upstream.requests).toEqual(['GET /api/projects/1/']);
  });
});
