import { describe, expect, test } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { cacheSettings } from '../support/cache.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { type Json, type JsonObject, reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import * as rows from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const organization = '018f1c4e-0000-7000-8000-00000000000a';
const dashboardRoute = '/api/projects/:id/dashboards/:id/';

/** A gateway that compares every answer, and what it tells of differences. */
interface Watched extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly upstream: Upstream;
  /** The lines of the log about differences. */
  readonly logged: readonly JsonObject[];
  /** `kind column route` of each series, with its count. */
  series(): Promise<Readonly<Record<string, number>>>;
}

async function startWatched(routes: Routes, options: Partial<GatewayOptions> = {}): Promise<Watched> {
  const stack = new AsyncDisposableStack();
  const upstream = stack.use(await startUpstream(routes));
  const logged: JsonObject[] = [];
  const gateway = stack.use(
    await startGateway(upstream, {
      driftSampleRate: 1,
      ...options,
      log: (level, message, facts) => {
        if (message.includes('OpenAPI')) logged.push({ level, ...Object.fromEntries(Object.entries(facts ?? {})) });
      },
    }),
  );
  return {
    gateway,
    upstream,
    logged,
    series: () => seriesOf(gateway),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function seriesOf(gateway: TestGateway): Promise<Readonly<Record<string, number>>> {
  const text = await metricsOf(gateway);
  const found = text.matchAll(/^gateway_upstream_drift_total\{route="(.*?)",column="(.*?)",kind="(.*?)"\} (\d+)$/gm);
  return Object.fromEntries(
    [...found].map(([, route, column, kind, count]) => [`${kind} ${column} ${route}`, Number(count)]),
  );
}

function page(...results: readonly Json[]): JsonObject {
  return { count: results.length, next: null, previous: null, results };
}

function without(row: JsonObject, ...columns: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)));
}

const readDashboard = '{ project(id: 1) { dashboard(id: 2) { name tiles } } }';

describe('a difference between an answer and the OpenAPI document', () => {
  test.each<[kind: string, column: string, row: JsonObject]>([
    ['unknown_column', 'access_level', rows.dashboard(2, { access_level: 'viewer' })],
    ['unknown_column', 'created_by.role', rows.dashboard(2, { created_by: { id: 1, role: 'engineer' } })],
    ['missing_column', 'use_template', without(rows.dashboard(2), 'use_template')],
    ['wrong_type', 'name', rows.dashboard(2, { name: 7 })],
    ['wrong_type', 'tags', rows.dashboard(2, { tags: ['a', 7] })],
    ['wrong_type', 'created_by', rows.dashboard(2, { created_by: 'Ada' })],
    ['wrong_type', 'created_by.email', rows.dashboard(2, { created_by: { email: false } })],
    ['unknown_enum', 'restriction_level', rows.dashboard(2, { restriction_level: 99 })],
    ['unexpected_null', 'id', rows.dashboard(2, { id: null })],
  ])('is counted as %s of %s and logged once, by names only', async (kind, column, row) => {
    await using watched = await startWatched({ 'GET /api/projects/1/dashboards/2/': row });
    await watched.gateway.ask(readDashboard);
    await watched.gateway.ask(readDashboard);
    expect(await watched.series()).toEqual({ [`${kind} ${column} ${dashboardRoute}`]: 2 });
    expect(watched.logged).toEqual([{ level: 'warn', kind, column, route: dashboardRoute }]);
    expect(watched.gateway.reported).toEqual([]);
  });

  test('is counted once an answer, however many rows have it', async () => {
    const results = [1, 2, 3].map((id) => rows.plugin(id, { plugin_type: 'inline', new_column: id }));
    await using watched = await startWatched({ [`GET /api/organizations/${organization}/plugins/`]: page(...results) });
    await watched.gateway.ask(`{ organization(id: "${organization}") { plugins { nodes { name } } } }`);
    expect(await watched.series()).toEqual({
      'unknown_enum plugin_type /api/organizations/:id/plugins/': 1,
      'unknown_column new_column /api/organizations/:id/plugins/': 1,
    });
  });

  test('is counted once an answer, however many operations share it or are answered with it from the cache', async () => {
    await using watched = await startWatched(
      { 'GET /api/projects/1/dashboards/2/': rows.dashboard(2, { new_column: 1 }) },
      { cache: cacheSettings },
    );
    const queries = ['name', 'tiles', 'name tiles'].map(
      (fields) => `{ project(id: 1) { dashboard(id: 2) { ${fields} } } }`,
    );
    await Promise.all(queries.map((query) => watched.gateway.ask(query)));
    await watched.gateway.ask(readDashboard);
    expect(watched.upstream.requests).toHaveLength(1);
    expect(await watched.series()).toEqual({ [`unknown_column new_column ${dashboardRoute}`]: 1 });
  });

  test('changes no byte of what clients are answered, and no REST call', async () => {
    const routes = {
      'GET /api/projects/1/': rows.project(1, { new_column: 1, week_start_day: 9 }),
      'GET /api/projects/1/dashboards/': page(rows.listedDashboard(2, { name: 5 }), 'no row', null),
      'GET /api/projects/1/dashboards/2/': without(rows.dashboard(2, { created_by: 'Ada' }), 'tiles'),
      'GET /api/projects/1/events/': { next: null, results: { no: 'list' } },
    };
    const query =
      '{ project(id: 1) { name weekStartDay dashboards { nodes { name tiles createdBy { email } } } events { nodes { id } } } }';
    await using watched = await startWatched(routes);
    await using plain = await startWatched(routes, { driftSampleRate: 0 });
    const [seen, unseen] = await Promise.all([watched.gateway.ask(query), plain.gateway.ask(query)]);
    expect(seen.body).toBe(unseen.body);
    expect(watched.upstream.requests.toSorted()).toEqual(plain.upstream.requests.toSorted());
    expect(Object.keys(await watched.series()).length).toBeGreaterThan(3);
    expect(await plain.series()).toEqual({});
    expect(plain.logged).toEqual([]);
  });
});

describe('it is no difference', () => {
  const plugins = `/api/organizations/${organization}/plugins/`;
  const cases: readonly (readonly [name: string, query: string, calls: number, routes: Routes])[] = [
    [
      'answers are what the document says',
      `{ projects(first: 2) { nodes { appUrls dashboards(first: 2) { nodes { tiles } } events { nodes { event } } } }
        organization(id: "${organization}") { plugins { nodes { name } } } }`,
      6,
      {
        'GET /api/projects/': page(rows.listedProject(1)),
        'GET /api/projects/1/': rows.project(1),
        'GET /api/projects/1/dashboards/': page(rows.listedDashboard(2)),
        'GET /api/projects/1/dashboards/2/': rows.dashboard(2),
        'GET /api/projects/1/events/': { next: null, results: [rows.event(1)] },
        [`GET ${plugins}`]: page(rows.plugin(1)),
      },
    ],
    [
      'rows of a list lack columns, or any column is null that may be',
      '{ project(id: 1) { dashboards { nodes { name } } } }',
      1,
      {
        'GET /api/projects/1/dashboards/': page(
          { id: 1 },
          { id: 2, name: null, created_by: null, tags: null, restriction_level: null },
        ),
      },
    ],
    [
      'what is inside of JSON columns changes',
      '{ project(id: 1) { events { nodes { properties person elements } } } }',
      1,
      {
        'GET /api/projects/1/events/': {
          next: null,
          results: [
            rows.event(1, { properties: 'text', person: 7, elements: [{ anything: { at: 'all' } }] }),
            rows.event(2, { properties: { 'a person@example.com': 1 }, person: null, elements: 'text' }),
          ],
        },
      },
    ],
    [
      'a row of another organization is cut down',
      `{ one: organization(id: "${organization}") { plugins { nodes { name } } }
         current: organization(id: "@current") { plugins { nodes { name } } } }`,
      2,
      {
        [`GET ${plugins}`]: page({
          ...{ id: 1, is_global: true, organization_id: '018f1c4e-0000-7000-8000-00000000000b' },
          ...{ plugin_type: 'hidden', cut: 1 },
        }),
        'GET /api/organizations/@current/plugins/': page({ id: 2, is_global: true, organization_id: 'other', cut: 1 }),
      },
    ],
    ...[
      ['an error', reply({ status: 500, body: { new_column: 1 } })] as const,
      ['a refusal', reply({ status: 403, body: { new_column: 1 } })] as const,
      ['an empty body', reply({ status: 200 })] as const,
      ['no content', reply({ status: 204 })] as const,
      ['a page', reply({ headers: { 'content-type': 'text/html' }, body: '<p>new_column</p>' })] as const,
    ].map(
      ([name, answer]) =>
        [`the answer is ${name}`, readDashboard, 1, { 'GET /api/projects/1/dashboards/2/': answer }] as const,
    ),
    [
      'plugins have files, values, entries and ids of any kind',
      `{ organization(id: "${organization}") {
           plugin(id: 1) { source { files { name } } } unusedPlugins { upstreamId }
           pluginRepository { name } pluginActivity { totalCount } }
         project(id: 1) { eventValues(key: "a") { values { name } } } }`,
      5,
      {
        [`GET ${plugins}1/source/`]: { 'index.ts': 'export {}', my_file: null },
        [`GET ${plugins}unused/`]: [1, 2],
        [`GET ${plugins}repository/`]: [{ name: 'a', mine: 1 }],
        [`GET ${plugins}activity/`]: { results: [{ mine: 1 }], next: null, previous: null, total_count: 1 },
        'GET /api/projects/1/events/values/': { results: [{ name: 'Firefox', count: 1 }], refreshing: false },
      },
    ],
  ];

  test.each(cases)('if %s', async (_name, query, calls, routes) => {
    await using watched = await startWatched(routes);
    await watched.gateway.ask(query);
    expect(watched.upstream.requests).toHaveLength(calls);
    expect([await watched.series(), watched.logged, watched.gateway.reported]).toEqual([{}, [], []]);
  });
});

describe('names that a difference may have', () => {
  test('are at most 50 and one for all others, whatever the upstream invents', async () => {
    let asked = 0;
    await using watched = await startWatched({
      'GET /api/projects/1/dashboards/2/': () => {
        asked += 1;
        const invented = Array.from({ length: 100 }, (_, index) => [`invented_${asked * 1000 + index}`, 1] as const);
        return rows.dashboard(2, Object.fromEntries(invented));
      },
    });
    for (let round = 0; round < 100; round += 1) await watched.gateway.ask(readDashboard);
    const series = await watched.series();
    expect(Object.keys(series)).toHaveLength(51);
    expect(series['other other other']).toBe(10_000 - 50);
    expect(watched.logged).toHaveLength(51);
  });

  test('are never names that the upstream may have got from a client: expressions, `extra` and values', async () => {
    let stored: JsonObject = {};
    await using watched = await startWatched({
      'GET /api/projects/1/events/': { next: null, columns: ['secret_expression'], results: [['secret_value']] },
      'PATCH /api/projects/1/dashboards/2/': ({ body }) => {
        stored = { secret_extra: body.includes('secret_extra') };
        return rows.dashboard(2, stored);
      },
      'GET /api/projects/1/dashboards/2/': () =>
        rows.dashboard(2, { ...stored, name: 'secret_name', restriction_level: 777, tags: { secret_tag: 1 } }),
    });
    const { gateway } = watched;
    await gateway.ask('{ project(id: 1) { eventRows(select: ["secret_expression"], first: 1) { rows } } }');
    await gateway.ask(
      'mutation { updateDashboard(input: { id: 2, projectId: 1, extra: { secret_extra: 1 } }) { dashboard { name } } }',
    );
    await gateway.ask(readDashboard);
    const text = await metricsOf(gateway);
    expect(text.replace(/^(?!gateway_upstream_drift).*$/gm, '')).not.toMatch(/secret|777/);
    expect(JSON.stringify(watched.logged)).not.toMatch(/secret|777/);
    expect(await watched.series()).toEqual({
      [`unknown_enum restriction_level ${dashboardRoute}`]: 1,
      [`wrong_type tags ${dashboardRoute}`]: 1,
      'other other other': 1,
    });
  });

  test.each(['a person@example.com', 'x'.repeat(51), 'Üñí', '__proto__', 'two words', '"}\n'])(
    'are never names that no column has, such as %j',
    async (name) => {
      const row = JSON.stringify(rows.dashboard(2)).replace('{', `{${JSON.stringify(name)}: 1, `);
      await using watched = await startWatched({ 'GET /api/projects/1/dashboards/2/': reply({ body: row }) });
      await watched.gateway.ask(readDashboard);
      expect(await watched.series()).toEqual({ 'other other other': 1 });
    },
  );
});
