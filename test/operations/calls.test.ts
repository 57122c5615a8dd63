import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { askPage, at, pageField, rowsOf, toPage } from '../support/connections.ts';
import { organizationId } from '../support/current.ts';
import { type Request, startGateway } from '../support/gateway.ts';
import { eventsOf, listOf } from '../support/lists.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, event, listedDashboard, listedProject, plugin, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const plugins = `/api/organizations/${organizationId}/plugins/`;

/** Twenty projects with twenty dashboards each, with events and plugins. */
const workspace: Routes = {
  'GET /api/projects/': listOf(rowsOf(20, listedProject)),
  'GET /api/projects/@current/': project(7),
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/dashboards/': listOf(rowsOf(20, listedDashboard)),
  'GET /api/projects/:id/dashboards/:dashboard/': ({ params }) => dashboard(Number(params['dashboard'])),
  'GET /api/projects/:id/events/': eventsOf(rowsOf(30, event)),
  'GET /api/projects/:id/events/values/': [{ name: 'Firefox' }],
  'GET /api/projects/:id/events/:event/': ({ params }) => event(1, { id: params['event'] ?? '' }),
  [`GET ${plugins}`]: listOf(rowsOf(3, plugin)),
  [`GET ${plugins}repository/`]: [],
  [`GET ${plugins}unused/`]: [1, 2, 3],
  [`GET ${plugins}activity/`]: { results: [] },
  [`GET ${plugins}exports_unsubscribe_configs/`]: [],
  [`GET ${plugins}:id/`]: ({ params }) => plugin(Number(params['id'])),
  [`GET ${plugins}:id/source/`]: { 'index.ts': '' },
};

interface Traffic {
  readonly data: unknown;
  /** `GET` left out, in the order of the alphabet. */
  readonly calls: readonly string[];
  readonly waves: number;
  readonly mostInFlight: number;
}

/** Longer than a busy machine takes to open the connections of one wave. */
const patient = { quiet: 25 };

/** The upstream traffic of one operation, which must succeed, and be the same every time that it is asked. */
async function trafficOf(query: string, request: Request = {}): Promise<Traffic> {
  await using upstream = await startUpstream(workspace, patient);
  await using gateway = await startGateway(upstream);
  const ask = async (): Promise<Traffic> => {
    upstream.reset();
    const answer = await gateway.ask(query, request);
    expect(answer.errors).toBeUndefined();
    const calls = upstream.requests.map((line) => line.replace(/^GET /, '')).toSorted();
    return { data: answer.data as unknown, calls, waves: upstream.waves(), mostInFlight: upstream.mostInFlight };
  };
  const traffic = await ask();
  // Operations that are asked again are executed by other code.
  for (let times = 0; times < 2; times += 1) expect(await ask()).toEqual(traffic);
  expect(gateway.reported).toEqual([]);
  return traffic;
}

/** The first `count` of the calls `path(1)`, `path(2)` and so on, in the order of the alphabet. */
function each(count: number, path: (id: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => path(index + 1)).toSorted();
}

const nested = `{ project(id: 1) {
  name
  dashboards(first: 20) { nodes { name pinned } pageInfo { hasNextPage } totalCount }
  events(first: 20) { nodes { event timestamp } }
} }`;

/** Each row: what is asked, the calls in the order of the alphabet, and how many of them go out together, wave by wave. */
const operations: readonly (readonly [
  name: string,
  query: string,
  calls: readonly string[],
  waves: readonly number[],
])[] = [
  [
    'a project with its dashboards and its events',
    nested,
    ['/api/projects/1/', '/api/projects/1/dashboards/?limit=20', '/api/projects/1/events/?limit=20'],
    [3],
  ],
  [
    'a project with its dashboards, no column of its own',
    '{ project(id: 1) { id upstreamId __typename dashboards(first: 5) { nodes { name } } } }',
    ['/api/projects/1/dashboards/?limit=5'],
    [1],
  ],
  ['only the id of a project', '{ project(id: 1) { id } }', ['/api/projects/1/'], [1]],
  [
    'list columns and detail columns of one project',
    '{ project(id: 1) { name createdAt } }',
    ['/api/projects/1/'],
    [1],
  ],
  ['20 projects', '{ projects(first: 20) { nodes { name timezone } } }', ['/api/projects/?limit=20'], [1]],
  [
    '20 projects with 5 dashboards each',
    '{ projects(first: 20) { nodes { name dashboards(first: 5) { nodes { name } } } } }',
    ['/api/projects/?limit=20', ...each(20, (id) => `/api/projects/${id}/dashboards/?limit=5`)].toSorted(),
    [1, 20],
  ],
  [
    'list columns of 20 dashboards',
    '{ project(id: 1) { dashboards(first: 20) { nodes { name tags createdBy { email } project { id } } } } }',
    ['/api/projects/1/dashboards/?limit=20'],
    [1],
  ],
  [
    'two detail columns of 20 dashboards',
    '{ project(id: 1) { dashboards(first: 20) { nodes { name tiles filters } } } }',
    ['/api/projects/1/dashboards/?limit=20', ...each(20, (id) => `/api/projects/1/dashboards/${id}/`)].toSorted(),
    [1, 20],
  ],
  [
    'only how many dashboards there are',
    '{ project(id: 1) { dashboards { totalCount } } }',
    ['/api/projects/1/dashboards/?limit=1'],
    [1],
  ],
  [
    'how many dashboards there are, beside a page of them',
    '{ project(id: 1) { count: dashboards { totalCount } page: dashboards(first: 3) { nodes { name } } } }',
    ['/api/projects/1/dashboards/?limit=3'],
    [1],
  ],
  [
    'two windows from the start of one list',
    '{ project(id: 1) { a: dashboards(first: 3) { nodes { name } } b: dashboards(first: 7) { nodes { pinned } } } }',
    ['/api/projects/1/dashboards/?limit=7'],
    [1],
  ],
  [
    'the first and the last dashboards, and their number',
    '{ project(id: 1) { a: dashboards(first: 3) { nodes { id } } b: dashboards(last: 3) { totalCount nodes { id } } } }',
    ['/api/projects/1/dashboards/?limit=100'],
    [1],
  ],
  [
    'the last dashboards',
    '{ project(id: 1) { dashboards(last: 3) { nodes { id } } } }',
    ['/api/projects/1/dashboards/?limit=100'],
    [1],
  ],
  [
    'objects by id under a project',
    '{ project(id: 1) { dashboard(id: 7) { name project { name } } event(id: "e-1") { event project { timezone } } } }',
    ['/api/projects/1/', '/api/projects/1/dashboards/7/', '/api/projects/1/events/e-1/'],
    [3],
  ],
  [
    "a project's primary dashboard, whose id only its row tells",
    '{ project(id: 1) { primaryDashboard { name tiles } } }',
    ['/api/projects/1/', '/api/projects/1/dashboards/1/'],
    [1, 1],
  ],
  [
    "the primary dashboard's id and key, which its project's row tells",
    '{ project(id: 1) { primaryDashboardId primaryDashboard { upstreamId project { name } } } }',
    ['/api/projects/1/'],
    [1],
  ],
  [
    'a primary dashboard on a page of dashboards that is read anyway',
    '{ project(id: 1) { primaryDashboard { name } dashboards(first: 5) { nodes { name } } } }',
    ['/api/projects/1/', '/api/projects/1/dashboards/?limit=5'],
    [2],
  ],
  ['only the id of an organization', `{ organization(id: "${organizationId}") { id upstreamId } }`, [], []],
  [
    'an organization and its plugins',
    `{ organization(id: "${organizationId}") { name plugins(first: 2) { nodes { name } } } }`,
    [`${plugins}?limit=2`],
    [1],
  ],
  [
    'only the name of an organization',
    `{ organization(id: "${organizationId}") { name } }`,
    [`${plugins}?limit=1`],
    [1],
  ],
  [
    'the organization of 20 projects',
    '{ projects(first: 20) { nodes { organization { name upstreamId } } } }',
    [`${plugins}?limit=1`, '/api/projects/?limit=20'],
    [1, 1],
  ],
  [
    'everything that an organization knows of its plugins',
    `{ organization(id: "${organizationId}") {
      plugin(id: 2) { name source { body } organization { name } }
      pluginRepository { body } unusedPlugins { id } pluginActivity { body } pluginExportsUnsubscribeConfigs
    } }`,
    [
      `${plugins}2/`,
      `${plugins}2/source/`,
      `${plugins}activity/`,
      `${plugins}exports_unsubscribe_configs/`,
      `${plugins}repository/`,
      `${plugins}unused/`,
    ],
    [6],
  ],
  [
    'the ids of unused plugins',
    `{ organization(id: "${organizationId}") { unusedPlugins { id upstreamId } } }`,
    [`${plugins}unused/`],
    [1],
  ],
  [
    'the columns of unused plugins, which are found in a page of the list',
    `{ organization(id: "${organizationId}") { unusedPlugins { name tag } } }`,
    [`${plugins}?limit=100`, `${plugins}unused/`],
    [1, 1],
  ],
  [
    'values, rows and objects of events',
    `{ project(id: 1) { eventValues(key: "$browser") { body } eventRows(select: ["event"], first: 2) { rows } events(first: 2) { nodes { event project { name } } } } }`,
    [
      '/api/projects/1/',
      '/api/projects/1/events/?limit=2',
      '/api/projects/1/events/?limit=2&select=%5B%22event%22%5D',
      '/api/projects/1/events/values/?key=%24browser',
    ],
    [3, 1],
  ],
  [
    'the projects that dashboards name, which the list of projects told',
    '{ projects(first: 2) { nodes { dashboards(first: 1) { nodes { project { name timezone } } } } } }',
    ['/api/projects/1/dashboards/?limit=1', '/api/projects/2/dashboards/?limit=1', '/api/projects/?limit=2'],
    [1, 2],
  ],
  [
    'fields of the project that is open, whose id only its row tells',
    '{ project(id: "@current") { id dashboards(first: 2) { nodes { name } } } }',
    ['/api/projects/@current/', '/api/projects/@current/dashboards/?limit=2'],
    [2],
  ],
];

describe('the REST calls of an operation', () => {
  test.each(operations)('for %s', async (_name, query, calls, waves) => {
    const traffic = await trafficOf(query);
    expect(traffic.calls).toEqual(calls);
    expect([traffic.waves, traffic.mostInFlight]).toEqual([waves.length, Math.max(0, ...waves)]);
  });

  test('are all in flight together for a project with its dashboards and events', async () => {
    // Held back until the third has come: one that waited for another would never let the test end.
    const { upstream, gateway } = await startBoth(workspace, {}, { hold: 3 });
    expect((await gateway.ask(nested)).errors).toBeUndefined();
    const [row, dashboards, events] = ['', 'dashboards/?limit=20', 'events/?limit=20'];
    expect(upstream.overlapped(`GET /api/projects/1/${row}`, `GET /api/projects/1/${dashboards}`)).toBe(true);
    expect(upstream.overlapped(`GET /api/projects/1/${row}`, `GET /api/projects/1/${events}`)).toBe(true);
    expect(upstream.overlapped(`GET /api/projects/1/${dashboards}`, `GET /api/projects/1/${events}`)).toBe(true);
  });

  test('are one for a project that is asked for ten times, whatever it is called and however it is selected', async () => {
    const id = Buffer.from('Project:1').toString('base64url');
    const { calls, data } = await trafficOf(
      `query ($id: ID!) {
        a: project(id: 1) { name }
        b: project(id: "1") { name createdAt }
        c: project(id: $id) { ...Columns }
        d: project(id: $id) { id ... on Node { id } ... { timezone } }
        e: node(id: $id) { id }
        f: node(id: $id) { ...Columns }
        g: node(id: $id) { ... on Node { ... on Project { name } } ... on Dashboard { tiles } }
        h: nodes(ids: [$id, $id]) { ...Columns }
        i: project(id: 1) { ...Columns ...Columns name }
        j: project(id: 1) { upstreamId }
      }
      fragment Columns on Project { name weekStartDay }`,
      { variables: { id } },
    );
    expect(calls).toEqual(['/api/projects/1/']);
    const columns = { name: 'Project 1', weekStartDay: 'MONDAY' };
    expect(data).toMatchObject({
      c: columns,
      f: columns,
      h: [columns, columns],
      i: columns,
      j: { upstreamId: '1' },
    });
  });

  test('leave out what @skip and @include leave out, by variables and on fragments', async () => {
    const query = `query ($rows: Boolean!, $row: Boolean!) { project(id: 1) {
      id
      name @include(if: $row)
      dashboards(first: 2) @include(if: $rows) { nodes { name tiles @skip(if: $rows) } }
      ... @skip(if: $rows) { events(first: 2) { nodes { event } } }
      ...Detail @include(if: $row)
    } } fragment Detail on Project { createdAt }`;
    const callsOf = async (variables: Request['variables']): Promise<readonly string[]> =>
      (await trafficOf(query, { variables: variables ?? {} })).calls;
    expect(await callsOf({ rows: true, row: false })).toEqual(['/api/projects/1/dashboards/?limit=2']);
    expect(await callsOf({ rows: false, row: false })).toEqual(['/api/projects/1/events/?limit=2']);
    expect(await callsOf({ rows: true, row: true })).toEqual([
      '/api/projects/1/',
      '/api/projects/1/dashboards/?limit=2',
    ]);
  });

  test('leave out what the document itself leaves out', async () => {
    const { calls } = await trafficOf('{ project(id: 1) { dashboards { totalCount } name @skip(if: true) } }');
    expect(calls).toEqual(['/api/projects/1/dashboards/?limit=1']);
  });

  test('take arguments from variables and their defaults', async () => {
    const query = `query ($id: ID = 2, $first: Int = 3, $event: String = "$pageview") { project(id: $id) {
      dashboards(first: $first) { nodes { id } } events(first: $first, filter: { event: $event }) { nodes { id } } } }`;
    expect((await trafficOf(query)).calls).toEqual([
      '/api/projects/2/dashboards/?limit=3',
      '/api/projects/2/events/?limit=3&event=%24pageview',
    ]);
    expect((await trafficOf(query, { variables: { id: 4, first: 1, event: 'a&b=c' } })).calls).toEqual([
      '/api/projects/4/dashboards/?limit=1',
      '/api/projects/4/events/?limit=1&event=a%26b%3Dc',
    ]);
  });

  test('are as few pages as the windows of a list fit in', async () => {
    const { upstream, gateway } = await startBoth(workspace, { maxPageSize: 6 }, patient);
    const { cursors } = await askPage(gateway, { field: 'projects' }, { first: 6 });
    upstream.reset();
    const windows = [
      { first: 2 },
      { first: 2, after: cursors[3] },
      { first: 1, after: cursors[1] },
      { first: 2, after: cursors[4] },
      { first: 4, after: cursors[5] },
      { last: 2, before: cursors[5] },
    ];
    const fields = windows.map((args, index) => pageField({ field: 'projects' }, args, `p${index}`));
    const answer = await gateway.ask(`{ ${fields.join('\n')} count: projects { totalCount } }`);
    const rows = fields.map((_field, index) => toPage(at(answer.data, `p${index}`)).rows.join());
    expect(rows).toEqual(['1,2', '5,6', '3', '6,7', '7,8,9,10', '4,5']);
    expect(upstream.requests).toEqual(['GET /api/projects/?limit=6', 'GET /api/projects/?limit=5&offset=5']);
    expect(upstream.mostInFlight).toBe(2);
  });
});
