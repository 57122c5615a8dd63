import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { isObject } from '../../src/rest/values.ts';
import { createSchema } from '../../src/schema.ts';
import { startBoth } from '../support/both.ts';
import { at, idsOf, textAt } from '../support/connections.ts';
import { key, startGateway } from '../support/gateway.ts';
import { codesOf } from '../support/outcomes.ts';
import { sendRaw } from '../support/raw-http.ts';
import { type Json, type JsonObject, reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, event, listedDashboard, listedProject, plugin, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const organizationId = '018f1c4e-0000-7000-8000-00000000000a';
const organization = `organization(id: "${organizationId}")`;
const pluginsPath = `/api/organizations/${organizationId}/plugins/`;
const eventsPath = '/api/projects/1/events/';

function pageOf(results: readonly JsonObject[]): JsonObject {
  return { count: results.length, next: null, previous: null, results };
}

test('properties, person and elements may each be an object, an array, a string or null', async () => {
  const values: Json[] = [{ a: { b: [1] } }, {}, [1, 'a', null], [], '{"a": "still a string"}', 'string', '', null];
  const rows = values.map((value, index) => event(index + 1, { properties: value, person: value, elements: value }));
  const byId = Object.fromEntries(rows.map((row) => [`GET ${eventsPath}${textAt(row, 'id')}/`, row]));
  const { gateway } = await startBoth({ [`GET ${eventsPath}`]: { next: null, results: rows }, ...byId });
  const listed = await gateway.ask('{ project(id: 1) { events { nodes { properties person elements } } } }');
  const expected = values.map((value) => ({ properties: value, person: value, elements: value }));
  expect(listed.errors).toBeUndefined();
  expect(at(listed.data, 'project', 'events', 'nodes')).toEqual(expected);
  for (const [index, row] of rows.entries()) {
    const one = await gateway.ask(
      'query ($id: ID!) { project(id: 1) { event(id: $id) { properties person elements } } }',
      {
        variables: { id: row['id'] },
      },
    );
    expect(one.errors).toBeUndefined();
    expect(at(one.data, 'project', 'event')).toEqual(expected[index]);
  }
});

const distinctIds = [
  '007',
  '0',
  '9007199254740993',
  '12345678901234567890123',
  '1e3',
  '-0',
  ' padded ',
  'ä+ %2F&=',
  '',
];

test('distinct_id stays a string in both directions, with leading zeros and beyond 2^53', async () => {
  // Known deployments send strings; digits without quotes are text all the same.
  const numbers = '{"id":"e1","distinct_id":9007199254740993},{"id":"e2","distinct_id":12345678901234567890123}';
  const rows = distinctIds.map((distinct_id, index) => JSON.stringify(event(index + 1, { distinct_id })));
  const { upstream, gateway } = await startBoth({
    [`GET ${eventsPath}`]: reply({ body: `{"next":null,"results":[${[...rows, numbers].join()}]}` }),
  });
  const listed = await gateway.ask('{ project(id: 1) { events { nodes { distinctId } } } }');
  expect(listed.errors).toBeUndefined();
  const ids = [...distinctIds, '9007199254740993', '12345678901234567890123'];
  expect(at(listed.data, 'project', 'events', 'nodes')).toEqual(ids.map((distinctId) => ({ distinctId })));
  for (const distinctId of distinctIds) {
    upstream.reset();
    const query = 'query ($id: String) { project(id: 1) { events(filter: { distinctId: $id }) { nodes { event } } } }';
    await gateway.ask(query, { variables: { id: distinctId } });
    expect(upstream.requests).toEqual([`GET ${eventsPath}?limit=50&distinct_id=${encodeURIComponent(distinctId)}`]);
  }
});

test('integers over 2^53 inside JSON values stay digit for digit, in both directions', async () => {
  const json =
    '{"big":9007199254740993,"negative":-9007199254740993,"huge":123456789012345678901234567890,"safe":9007199254740991,' +
    '"text":"9007199254740993","deep":[[{"a":[9007199254740993,1]}]],"float":0.5,"zero":0}';
  const { upstream, gateway } = await startBoth({
    [`GET ${eventsPath}`]: reply({
      body: `{"next":null,"results":[{"id":"e","properties":${json},"elements":[${json}]}]}`,
    }),
    [`GET ${eventsPath}values/`]: reply({ body: `[${json}]` }),
    'PATCH /api/projects/1/': ({ body }) => reply({ body: `{"id":1,"extra_settings":${body}}` }),
  });
  const read = await gateway.ask(
    '{ project(id: 1) { events { nodes { properties elements } } eventRows(select: ["a"]) { rows } eventValues(key: "k") { body } } }',
  );
  expect(read.errors).toBeUndefined();
  expect(read.body.split(json)).toHaveLength(6);

  const send = (query: string) =>
    sendRaw(gateway.url, {
      headers: ['content-type', 'application/json', 'authorization', `Bearer ${key}`],
      body: `{"query":${JSON.stringify(query)},"variables":{"extra":${json},"filter":[${json}]}}`,
    });
  const written = await send(
    'mutation ($extra: JSON) { updateProject(input: { id: 1, extraSettings: $extra }) { project { extraSettings } } }',
  );
  expect(upstream.records.at(-1)?.body).toBe(`{"extra_settings":${json}}`);
  expect(written.body).toBe(`{"data":{"updateProject":{"project":{"extraSettings":{"extra_settings":${json}}}}}}`);
  await send(
    'query ($filter: [JSON!]) { project(id: 1) { events(filter: { properties: $filter }) { nodes { id } } } }',
  );
  expect(upstream.requests.at(-1)).toBe(`GET ${eventsPath}?limit=50&properties=${encodeURIComponent(`[${json}]`)}`);
  await gateway.ask(
    'mutation { updateProject(input: { id: 1, extraSettings: { big: 9007199254740993, deep: [[-9007199254740993]] } }) { project { name } } }',
  );
  expect(upstream.records.at(-1)?.body).toBe(
    '{"extra_settings":{"big":9007199254740993,"deep":[[-9007199254740993]]}}',
  );
});

/** Every shape in which some plugin action answers. */
const shapes: Readonly<Record<string, Json>> = {
  plugin: plugin(7, { name: 'Mine' }),
  wrapped: { plugin: plugin(7, { name: 'Mine' }) },
  files: { 'index.ts': 'export {}', 'name.json': '{}' },
  deletion: { 'index.ts': 'export {}', 'old.ts': null },
  activity: { results: [{ activity: 'installed' }], next: null, previous: null, total_count: 1 },
  objects: [{ id: 1, team_id: 2, config: {} }],
  repository: [{ name: 'Listed', url: 'https://plugins.example.com/1', official: true }],
  ids: [1, 2, 3],
  nothing: [],
  empty: {},
};

/** A plugin action, its selection, and what is selected for each shape; `refused` if a shape cannot be its answer. */
interface Action {
  readonly query: string;
  readonly call: string;
  readonly answers: Readonly<Record<keyof typeof shapes, unknown>>;
}

const refused = 'refused';
const input = `id: 7, organizationId: "${organizationId}"`;
const files = [
  { name: 'index.ts', text: 'export {}' },
  { name: 'name.json', text: '{}' },
];
const mine = { name: 'Mine' };
/** What is read if the answer is no plugin. */
const read = { name: 'Read' };
const payloads = {
  ...Object.fromEntries(Object.keys(shapes).map((shape) => [shape, { plugin: read }])),
  plugin: { plugin: mine },
  wrapped: { plugin: mine },
};

const actions: readonly Action[] = [
  {
    query: `mutation { answer: checkPluginForUpdates(input: { ${input} }) { plugin { name } } }`,
    call: `GET ${pluginsPath}7/check_for_updates/`,
    answers: payloads,
  },
  {
    query: `mutation { answer: upgradePlugin(input: { ${input} }) { plugin { name } } }`,
    call: `POST ${pluginsPath}7/upgrade/`,
    answers: payloads,
  },
  {
    query: `mutation { answer: updatePluginSource(input: { ${input}, deletedFiles: ["a.ts"] }) { files { name text } } }`,
    call: `PATCH ${pluginsPath}7/update_source/`,
    answers: {
      ...Object.fromEntries(Object.keys(shapes).map((shape) => [shape, { files: null }])),
      files: { files },
      empty: { files: [] },
    },
  },
  {
    query: `{ ${organization} { plugin(id: 7) { answer: source { files { name text } } } } }`,
    call: `GET ${pluginsPath}7/source/`,
    answers: {
      ...Object.fromEntries(Object.keys(shapes).map((shape) => [shape, { files: null }])),
      files: { files },
      empty: { files: [] },
    },
  },
  {
    query: `{ ${organization} { answer: pluginActivity { totalCount entries { activity } } } }`,
    call: `GET ${pluginsPath}activity/`,
    answers: {
      plugin: { totalCount: null, entries: [{ activity: null }] },
      wrapped: { totalCount: null, entries: [{ activity: null }] },
      files: { totalCount: null, entries: [{ activity: null }] },
      deletion: { totalCount: null, entries: [{ activity: null }] },
      activity: { totalCount: 1, entries: [{ activity: 'installed' }] },
      objects: { totalCount: null, entries: [{ activity: null }] },
      repository: { totalCount: null, entries: [{ activity: null }] },
      ids: { totalCount: null, entries: null },
      nothing: { totalCount: null, entries: [] },
      empty: { totalCount: null, entries: [{ activity: null }] },
    },
  },
  {
    query: `{ ${organization} { answer: pluginExportsUnsubscribeConfigs } }`,
    call: `GET ${pluginsPath}exports_unsubscribe_configs/`,
    answers: {
      ...Object.fromEntries(Object.entries(shapes).map(([shape, body]) => [shape, [body].flat()])),
      activity: [{ activity: 'installed' }],
    },
  },
  {
    query: `{ ${organization} { answer: pluginRepository { name } } }`,
    call: `GET ${pluginsPath}repository/`,
    answers: {
      ...Object.fromEntries(Object.keys(shapes).map((shape) => [shape, [{ name: null }]])),
      plugin: [mine],
      repository: [{ name: 'Listed' }],
      ids: refused,
      nothing: [],
    },
  },
  {
    query: `{ ${organization} { answer: unusedPlugins { upstreamId } } }`,
    call: `GET ${pluginsPath}unused/`,
    answers: {
      ...Object.fromEntries(Object.keys(shapes).map((shape) => [shape, refused])),
      plugin: [{ upstreamId: '7' }],
      ids: [{ upstreamId: '1' }, { upstreamId: '2' }, { upstreamId: '3' }],
      nothing: [],
    },
  },
];

test('every plugin action takes the shapes of the known deployment, and the Plugin of the document', async () => {
  for (const { query, call, answers } of actions) {
    for (const [shape, body] of Object.entries(shapes)) {
      await using upstream = await startUpstream({
        [call]: reply({ body: JSON.stringify(body) }),
        [`GET ${pluginsPath}7/`]: plugin(7, read),
      });
      await using gateway = await startGateway(upstream);
      const asked = await gateway.ask(query.replace('answer: source', 'name answer: source'));
      const answer = answers[shape];
      const found = JSON.stringify({ call, shape, answer: deepAnswerIn(asked.data) ?? null });
      expect(found).toBe(JSON.stringify({ call, shape, answer: answer === refused ? null : answer }));
      expect(codesOf(asked).map((code) => code.split(' ').at(-1))).toEqual(
        answer === refused ? ['UPSTREAM_INVALID_RESPONSE'] : [],
      );
      expect(upstream.requests[0]).toBeDefined();
      expect(upstream.requests.filter((line) => line === call)).toHaveLength(1);
    }
  }
});

/** The value of the first member `answer` anywhere in a JSON value. */
function deepAnswerIn(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  return 'answer' in value ? value['answer'] : Object.values(value).map(deepAnswerIn)[0];
}

test('an unknown enum value fails neither its object nor its list', async () => {
  const rows: [type: string, routes: Routes, query: string, expected: object][] = [
    [
      'plugin_type',
      {
        [`GET ${pluginsPath}`]: pageOf([
          plugin(1, { plugin_type: 'inline' }),
          plugin(2),
          plugin(3, { plugin_type: 7 }),
        ]),
        [`GET ${pluginsPath}9/`]: plugin(9, { plugin_type: 'inline' }),
      },
      `{ ${organization} { plugins { nodes { pluginType name } } plugin(id: 9) { pluginType name } } }`,
      {
        organization: {
          plugins: {
            nodes: [
              { pluginType: 'UNKNOWN', name: 'Plugin 1' },
              { pluginType: 'REPOSITORY', name: 'Plugin 2' },
              { pluginType: 'UNKNOWN', name: 'Plugin 3' },
            ],
          },
          plugin: { pluginType: 'UNKNOWN', name: 'Plugin 9' },
        },
      },
    ],
    [
      'creation_mode and the levels',
      {
        'GET /api/projects/1/dashboards/': pageOf([
          listedDashboard(1, { creation_mode: 'ai', restriction_level: 99, effective_restriction_level: '37' }),
          listedDashboard(2, { effective_privilege_level: 15 }),
        ]),
      },
      `{ project(id: 1) { dashboards { nodes {
        creationMode restrictionLevel effectiveRestrictionLevel effectivePrivilegeLevel } } } }`,
      {
        project: {
          dashboards: {
            nodes: [
              {
                creationMode: 'ai',
                restrictionLevel: 'UNKNOWN',
                effectiveRestrictionLevel: 'UNKNOWN',
                effectivePrivilegeLevel: 37,
              },
              {
                creationMode: 'default',
                restrictionLevel: 'EVERYONE_CAN_EDIT',
                effectiveRestrictionLevel: 'EVERYONE_CAN_EDIT',
                effectivePrivilegeLevel: 15,
              },
            ],
          },
        },
      },
    ],
    [
      'week_start_day',
      { 'GET /api/projects/1/': project(1, { week_start_day: 6, effective_membership_level: 99 }) },
      '{ project(id: 1) { weekStartDay effectiveMembershipLevel name } }',
      { project: { weekStartDay: 'UNKNOWN', effectiveMembershipLevel: 99, name: 'Project 1' } },
    ],
  ];
  for (const [type, routes, query, expected] of rows) {
    await using upstream = await startUpstream(routes);
    await using gateway = await startGateway(upstream);
    const asked = await gateway.ask(query);
    expect({ type, codes: codesOf(asked), data: asked.data as unknown }).toEqual({ type, codes: [], data: expected });
  }
});

const schema = createSchema();

function objectType(name: string): GraphQLObjectType {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`expected an object type ${name}`);
  return type;
}

/** The fields that are columns of a type's own row. */
function columnFields(name: string): string[] {
  return Object.values(objectType(name).getFields())
    .filter(({ type, args }) => isLeafType(getNamedType(type)) && args.length === 0)
    .map((field) => field.name);
}

/** The field that answers a column. */
function fieldOf(column: string): string {
  const id = ['use_dashboard', 'primary_dashboard'].includes(column) || column === 'organization' ? '_id' : '';
  return `${column}${id}`.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/** Copies of a row, the one at `index` without the column of that index, or with null for it. */
function damaged(columns: readonly string[], row: (id: number) => JsonObject, how: 'null' | 'missing'): JsonObject[] {
  return columns.map((column, index) => {
    const { [column]: taken, ...others } = row(index + 1);
    return how === 'missing' || taken === undefined ? others : { ...others, [column]: null };
  });
}

const nouns: { type: string; path: string; list: string; listed: typeof project; whole: typeof project }[] = [
  { type: 'Project', path: '/api/projects/', list: 'projects', listed: listedProject, whole: project },
  {
    type: 'Dashboard',
    path: '/api/projects/1/dashboards/',
    list: 'project(id: 1) { dashboards',
    listed: listedDashboard,
    whole: dashboard,
  },
  { type: 'Event', path: eventsPath, list: 'project(id: 1) { events', listed: event, whole: event },
  { type: 'Plugin', path: pluginsPath, list: `${organization} { plugins`, listed: plugin, whole: plugin },
];

test('a documented field that is null or missing fails neither its object nor its siblings', async () => {
  for (const { type, path, list, listed, whole } of nouns) {
    const columns = Object.keys(whole(1)).filter((column) => column !== 'id');
    const fields = [...columnFields(type), ...(type === 'Dashboard' ? ['createdBy { email }'] : [])];
    const query = `{ ${list}(first: 100) { nodes { ${fields.join(' ')} } ${list.includes('{') ? '} ' : ''}} }`;
    const nodesOf = async (rows: readonly JsonObject[], details: readonly JsonObject[]): Promise<unknown> => {
      const byId: Routes = Object.fromEntries(details.map((row, index) => [`GET ${path}${idsOf(rows)[index]}/`, row]));
      await using upstream = await startUpstream({ [`GET ${path}`]: pageOf(rows), ...byId });
      await using gateway = await startGateway(upstream);
      const asked = await gateway.ask(query);
      expect({ type, codes: codesOf(asked) }).toEqual({ type, codes: [] });
      const around = list.split('(')[0] ?? '';
      return at(asked.data, ...(list.includes('{') ? [around, list.split(' ').at(-1) ?? ''] : [around]), 'nodes');
    };
    const intact = columns.map((_column, index) => whole(index + 1));
    const expected = await nodesOf(
      columns.map((_column, index) => listed(index + 1)),
      intact,
    );
    for (const how of ['null', 'missing'] as const) {
      const rows = damaged(columns, listed, how);
      const nodes = await nodesOf(rows, damaged(columns, whole, how));
      for (const [index, column] of columns.entries()) {
        const sound = at(expected, index);
        expect(sound).toHaveProperty(fieldOf(column));
        expect(at(nodes, index)).toEqual({ ...Object(sound), [fieldOf(column)]: null });
      }
    }
  }
});
