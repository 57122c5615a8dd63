import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { rowsOf } from '../support/connections.ts';
import { organizationId } from '../support/current.ts';
import { listOf } from '../support/lists.ts';
import { codesOf } from '../support/load.ts';
import { askThrice } from '../support/repeat.ts';
import { type Reply, refusal } from '../support/replies.ts';
import { dashboard, event, listedDashboard, listedProject, plugin, project } from '../support/rows.ts';

const denied = refusal(403, 'permission_denied', "API key missing required scope 'dashboard:read'");
const broken = refusal(500, 'error', 'A server error occurred.');
const row = 'GET /api/projects/1/';
const dashboards = 'GET /api/projects/1/dashboards/';
const events = 'GET /api/projects/1/events/';

const relations = 'dashboards(first: 1) { nodes { name } } events(first: 1) { nodes { event } }';

/** The answers for a project's own row, its dashboards and its events. */
function answers(own: Reply | null, ofDashboards: Reply | null, ofEvents: Reply | null) {
  return {
    ...(own === null ? {} : { [row]: own }),
    ...(ofDashboards === null ? {} : { [dashboards]: ofDashboards }),
    ...(ofEvents === null ? {} : { [events]: ofEvents }),
  };
}

describe('an object that does not exist', () => {
  test('is null without an error if its own row is read', async () => {
    const { upstream, gateway } = await startBoth({}, {}, { quiet: 25 });
    const answer = await askThrice(gateway, upstream, `{ project(id: 1) { name ${relations} } }`);
    expect(answer.data).toEqual({ project: null });
    expect(answer.errors).toBeUndefined();
    expect(upstream.requests.toSorted()).toEqual([row, `${dashboards}?limit=1`, `${events}?limit=1`]);
    expect(upstream.waves()).toBe(1);
  });

  test('is null without an error if every relation answers 404 and one read of its row, too', async () => {
    const { upstream, gateway } = await startBoth({}, {}, { quiet: 25 });
    const answer = await askThrice(gateway, upstream, `{ project(id: 1) { id ${relations} } }`);
    expect(answer.data).toEqual({ project: null });
    expect(answer.errors).toBeUndefined();
    expect(upstream.requests).toHaveLength(3);
    expect(upstream.requests.at(-1)).toBe(row);
    expect(upstream.waves()).toBe(2);
  });

  test.each([
    ['project(id: 9) { dashboard(id: 9) { name } }', { project: null }, 2],
    ['project(id: 1) { dashboard(id: 9) { name } }', { project: { dashboard: null } }, 2],
    ['project(id: 1) { event(id: "gone") { event } }', { project: { event: null } }, 2],
    [`organization(id: "${organizationId}") { plugin(id: 9) { name } }`, { organization: { plugin: null } }, 1],
    [
      `organization(id: "${organizationId}") { plugin(id: 9) { source { body } } }`,
      { organization: { plugin: null } },
      2,
    ],
  ])('%s is null without an error', async (selection, data, waves) => {
    const { upstream, gateway } = await startBoth({ [row]: project(1) }, {}, { quiet: 25 });
    const answer = await askThrice(gateway, upstream, `{ ${selection} }`);
    expect(answer.errors).toBeUndefined();
    expect(answer.data).toEqual(data);
    expect(upstream.waves()).toBe(waves);
  });

  test('costs nothing if the row names none', async () => {
    const { upstream, gateway } = await startBoth({
      [row]: project(1, { primary_dashboard: null, organization: null }),
    });
    const answer = await askThrice(
      gateway,
      upstream,
      '{ project(id: 1) { primaryDashboard { name } organization { name } } }',
    );
    expect(answer.data).toEqual({ project: { primaryDashboard: null, organization: null } });
    expect(upstream.requests).toEqual([row]);
  });
});

describe('an object that a row refers to, and that is gone', () => {
  const routes = {
    [row]: project(1, { primary_dashboard: 9 }),
    'GET /api/projects/1/dashboards/2/': dashboard(2, { use_dashboard: 9 }),
    'GET /api/projects/7/dashboards/2/': dashboard(2),
    'GET /api/projects/7/events/e/': event(3, { id: 'e' }),
  };
  const ofSeven = (type: string, key: string): string => Buffer.from(`${type}:7:${key}`).toString('base64url');
  const gone = (text: string) => ({ id: Buffer.from(text).toString('base64url'), upstreamId: text.split(':').at(-1) });
  const references: readonly (readonly [field: string, place: string, id: object, itsRow: string])[] = [
    ['primaryDashboard', 'project(id: 1)', gone('Dashboard:1:9'), `${dashboards}9/`],
    ['useDashboard', 'node(id: "RGFzaGJvYXJkOjE6Mg") { ... on Dashboard', gone('Dashboard:1:9'), `${dashboards}9/`],
    [
      'project',
      `node(id: "${ofSeven('Dashboard', '2')}") { ... on Dashboard`,
      gone('Project:7'),
      'GET /api/projects/7/',
    ],
    ['project', `node(id: "${ofSeven('Event', 'e')}") { ... on Event`, gone('Project:7'), 'GET /api/projects/7/'],
  ];

  test.each(references)('keeps its ids whatever else is selected, its columns null: %s of %s', async (...given) => {
    const [field, place, ids, itsRow] = given;
    const { upstream, gateway } = await startBoth(routes);
    const close = place.includes('...') ? '}' : '';
    const ask = (selection: string) =>
      askThrice(gateway, upstream, `{ found: ${place} { ${field} { ${selection} } } ${close} }`);
    const bare = await ask('id upstreamId');
    expect(bare.errors).toBeUndefined();
    expect(bare.data).toEqual({ found: { [field]: ids } });
    expect(upstream.requests).toHaveLength(1);
    upstream.reset();
    const full = await ask('id upstreamId name');
    expect(full.errors).toBeUndefined();
    expect(full.data).toEqual({ found: { [field]: { ...ids, name: null } } });
    expect(upstream.requests.toSorted()).toContain(itsRow);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('relations that fail', () => {
  test('with 404 while the object exists are null with NOT_FOUND each, after one read of its row', async () => {
    const { upstream, gateway } = await startBoth({ [row]: project(1) });
    const answer = await askThrice(gateway, upstream, `{ project(id: 1) { upstreamId ${relations} } }`);
    expect(answer.data).toEqual({ project: { upstreamId: '1', dashboards: null, events: null } });
    expect(answer.errors?.map(({ path, extensions }) => [path?.join('.'), extensions['code']]).toSorted()).toEqual([
      ['project.dashboards', 'NOT_FOUND'],
      ['project.events', 'NOT_FOUND'],
    ]);
    expect(upstream.requests).toHaveLength(3);
    expect(upstream.requests.at(-1)).toBe(row);
  });

  test.each([
    ['403', denied, 'FORBIDDEN'],
    ['500', broken, 'UPSTREAM_UNAVAILABLE'],
  ])('with %s never null their parent, whose row need not be read', async (_status, failure, code) => {
    const { upstream, gateway } = await startBoth(answers(null, failure, failure));
    const answer = await askThrice(gateway, upstream, `{ project(id: 1) { upstreamId ${relations} } }`);
    expect(answer.data).toEqual({ project: { upstreamId: '1', dashboards: null, events: null } });
    expect(codesOf(answer)).toEqual([code, code]);
    expect(upstream.requests.toSorted()).toEqual([`${dashboards}?limit=1`, `${events}?limit=1`]);
  });

  test('with 403 and with 404 keep the parent', async () => {
    const { upstream, gateway } = await startBoth(answers(null, denied, null));
    const answer = await askThrice(gateway, upstream, `{ project(id: 1) { upstreamId ${relations} } }`);
    expect(answer.data).toEqual({ project: { upstreamId: '1', dashboards: null, events: null } });
    expect(upstream.requests).toHaveLength(2);
  });

  test('leave the other relations and the columns as they are', async () => {
    const { upstream, gateway } = await startBoth({
      [row]: project(1),
      [dashboards]: denied,
      [events]: { next: null, results: [event(1)] },
    });
    const answer = await askThrice(gateway, upstream, `{ project(id: 1) { name ${relations} } }`);
    expect(answer.data).toEqual({
      project: { name: 'Project 1', dashboards: null, events: { nodes: [{ event: '$pageview' }] } },
    });
    expect(answer.errors).toMatchObject([{ path: ['project', 'dashboards'], extensions: { code: 'FORBIDDEN' } }]);
  });

  test('of one row of a list leave the other rows as they are', async () => {
    const { upstream, gateway } = await startBoth({
      'GET /api/projects/': listOf(rowsOf(3, listedProject)),
      'GET /api/projects/1/dashboards/': listOf([listedDashboard(1)]),
      'GET /api/projects/3/dashboards/': listOf([listedDashboard(3)]),
      'GET /api/projects/2/dashboards/': broken,
    });
    const answer = await askThrice(
      gateway,
      upstream,
      '{ projects { nodes { name dashboards(first: 1) { totalCount } } } }',
    );
    expect(answer.data).toEqual({
      projects: {
        nodes: [
          { name: 'Project 1', dashboards: { totalCount: 1 } },
          { name: 'Project 2', dashboards: null },
          { name: 'Project 3', dashboards: { totalCount: 1 } },
        ],
      },
    });
    expect(answer.errors).toHaveLength(1);
  });
});

describe('an own row that fails', () => {
  test('with 500 while a relation answers keeps the data of the relation', async () => {
    const { upstream, gateway } = await startBoth({ [row]: broken, [dashboards]: listOf([listedDashboard(1)]) });
    const answer = await askThrice(
      gateway,
      upstream,
      '{ project(id: 1) { id name timezone dashboards(first: 1) { nodes { name } } } }',
    );
    const id = Buffer.from('Project:1').toString('base64url');
    expect(answer.data).toEqual({
      project: { id, name: null, timezone: null, dashboards: { nodes: [{ name: 'Dashboard 1' }] } },
    });
    expect(answer.errors?.map(({ path, extensions }) => [path?.join('.'), extensions['code']])).toEqual([
      ['project.name', 'UPSTREAM_UNAVAILABLE'],
      ['project.timezone', 'UPSTREAM_UNAVAILABLE'],
    ]);
    expect(upstream.requests.toSorted()).toEqual([row, `${dashboards}?limit=1`]);
  });

  test.each([
    ['500', broken, 'UPSTREAM_UNAVAILABLE'],
    ['403', denied, 'FORBIDDEN'],
  ])('with %s while no relation answers is one error', async (_status, failure, code) => {
    const { upstream, gateway } = await startBoth(answers(failure, failure, null));
    const answer = await askThrice(gateway, upstream, `{ project(id: 1) { name ${relations} } }`);
    expect(answer.data).toEqual({ project: null });
    expect(answer.errors).toMatchObject([{ path: ['project'], extensions: { code } }]);
    expect(answer.errors).toHaveLength(1);
  });

  test('with 500 while an event of a relation does not exist is one error', async () => {
    const { upstream, gateway } = await startBoth(answers(broken, null, null));
    const answer = await askThrice(gateway, upstream, '{ project(id: 1) { name eventCsv(id: "e-1") } }');
    expect(answer.data).toEqual({ project: null });
    expect(answer.errors).toMatchObject([{ path: ['project'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  });

  test('in its detail view leaves the columns of the list as they are', async () => {
    const { upstream, gateway } = await startBoth({
      [dashboards]: listOf(rowsOf(2, listedDashboard)),
      'GET /api/projects/1/dashboards/1/': dashboard(1),
      'GET /api/projects/1/dashboards/2/': broken,
    });
    const answer = await askThrice(
      gateway,
      upstream,
      '{ project(id: 1) { dashboards(first: 2) { nodes { name filters } } } }',
    );
    expect(answer.data).toEqual({
      project: {
        dashboards: {
          nodes: [
            { name: 'Dashboard 1', filters: { date_from: '-7d' } },
            { name: 'Dashboard 2', filters: null },
          ],
        },
      },
    });
    expect(answer.errors).toMatchObject([{ path: ['project', 'dashboards', 'nodes', 1, 'filters'] }]);
  });
});

describe('several rows of one list, wanted by id at once', () => {
  const ids = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => Buffer.from(`Dashboard:1:${index + 1}`).toString('base64url'));
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Dashboard { name } } }';
  const names = (count: number): object[] => rowsOf(count, listedDashboard).map(({ name }) => ({ name }));
  const routes = {
    [dashboards]: listOf(rowsOf(5, listedDashboard)),
    'GET /api/projects/1/dashboards/:id/': ({ params }: { readonly params: Readonly<Record<string, string>> }) =>
      dashboard(Number(params['id'])),
  };

  test('are one page of the list from three on', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const answer = await askThrice(gateway, upstream, query, { variables: { ids: ids(5) } });
    expect(answer.data).toEqual({ nodes: names(5) });
    expect(upstream.requests).toEqual([`${dashboards}?limit=100`]);
  });

  test('are one call each below three, if they are rows of different lists, or in the detail view', async () => {
    const { upstream, gateway } = await startBoth(routes, {}, { quiet: 25 });
    await askThrice(gateway, upstream, query, { variables: { ids: ids(2) } });
    expect(upstream.requests.toSorted()).toEqual([`${dashboards}1/`, `${dashboards}2/`]);
    upstream.reset();
    await askThrice(gateway, upstream, query.replace('name', 'tiles'), { variables: { ids: ids(4) } });
    expect(upstream.requests).toHaveLength(4);
    expect([upstream.waves(), upstream.mostInFlight]).toEqual([1, 4]);
  });

  test('are read by id if the list does not have them', async () => {
    const { upstream, gateway } = await startBoth({ ...routes, [dashboards]: listOf(rowsOf(2, listedDashboard)) });
    const answer = await askThrice(gateway, upstream, query, { variables: { ids: ids(4) } });
    expect(answer.data).toEqual({ nodes: names(4) });
    expect(upstream.requests.slice(0, 1)).toEqual([`${dashboards}?limit=100`]);
    expect(upstream.requests.slice(1).toSorted()).toEqual([`${dashboards}3/`, `${dashboards}4/`]);
  });

  test.each([
    ['500', broken],
    ['403', denied],
    ['404', refusal(404, 'not_found', 'Not found.')],
    ['nonsense', 'nonsense'],
  ])('are read by id if the list answers %s, which is no error to the client', async (_status, failure) => {
    const { upstream, gateway } = await startBoth({ ...routes, [dashboards]: failure }, {}, { quiet: 25 });
    const answer = await askThrice(gateway, upstream, query, { variables: { ids: ids(3) } });
    expect(answer.data).toEqual({ nodes: names(3) });
    expect(answer.errors).toBeUndefined();
    expect(upstream.requests).toHaveLength(4);
    expect(upstream.waves()).toBe(2);
  });

  test('are found in a page of the list that is read anyway, without a call of their own', async () => {
    const { upstream, gateway } = await startBoth({
      ...routes,
      [`GET /api/organizations/${organizationId}/plugins/`]: listOf(rowsOf(3, plugin)),
    });
    const answer = await askThrice(
      gateway,
      upstream,
      `query ($ids: [ID!]!) {
        project(id: 1) { dashboards(first: 5) { nodes { name } } }
        nodes(ids: $ids) { ... on Dashboard { name } }
        organization(id: "${organizationId}") { plugins(first: 3) { nodes { name } } plugin(id: 2) { name publicJobs } }
      }`,
      { variables: { ids: ids(2) } },
    );
    expect(answer.data).toMatchObject({
      nodes: names(2),
      organization: { plugin: { name: 'Plugin 2', publicJobs: {} } },
    });
    expect(upstream.requests.toSorted()).toEqual([
      `GET /api/organizations/${organizationId}/plugins/?limit=3`,
      `${dashboards}?limit=5`,
    ]);
  });
});
