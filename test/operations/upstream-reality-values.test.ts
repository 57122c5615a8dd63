import { expect, test } from 'vitest';
import { isObject } from '../../src/rest/values.ts';
import { startBoth, startChanging } from '../support/both.ts';
import { at } from '../support/connections.ts';
import { organizationId } from '../support/current.ts';
import { key } from '../support/gateway.ts';
import { codesOf } from '../support/outcomes.ts';
import { sendRaw } from '../support/raw-http.ts';
import { type Json, reply } from '../support/replies.ts';
import { event, plugin } from '../support/rows.ts';

const organization = `organization(id: "${organizationId}")`;
const pluginsPath = `/api/organizations/${organizationId}/plugins/`;
const eventsPath = '/api/projects/1/events/';

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

test('integers over 2^53 inside JSON values of events and of their filters stay digit for digit', async () => {
  const json =
    '{"big":9007199254740993,"negative":-9007199254740993,"huge":123456789012345678901234567890,"safe":9007199254740991,' +
    '"text":"9007199254740993","deep":[[{"a":[9007199254740993,1]}]],"float":0.5,"zero":0}';
  const { upstream, gateway } = await startBoth({
    [`GET ${eventsPath}`]: reply({
      body: `{"next":null,"results":[{"id":"e","properties":${json},"elements":[${json}]}]}`,
    }),
    [`GET ${eventsPath}values/`]: reply({ body: `[${json}]` }),
  });
  const read = await gateway.ask(
    '{ project(id: 1) { events { nodes { properties elements } } eventRows(select: ["a"]) { rows } eventValues(key: "k") { body } } }',
  );
  expect(read.errors).toBeUndefined();
  expect(read.body.split(json)).toHaveLength(6);

  await sendRaw(gateway.url, {
    headers: ['content-type', 'application/json', 'authorization', `Bearer ${key}`],
    body: JSON.stringify({
      query: 'query ($filter: [JSON!]) { project(id: 1) { events(filter: { properties: $filter }) { nodes { id } } } }',
    }).replace('}"}', `}","variables":{"filter":[${json}]}}`),
  });
  expect(upstream.requests.at(-1)).toBe(`GET ${eventsPath}?limit=50&properties=${encodeURIComponent(`[${json}]`)}`);
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
/** The row that the gateway reads if the answer is no plugin. */
const read = { name: 'Read' };
const payloads = { ...everyShape({ plugin: read }), plugin: { plugin: mine }, wrapped: { plugin: mine } };

/** The same answer for each shape. */
function everyShape(answer: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.keys(shapes).map((shape) => [shape, answer]));
}

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
    answers: { ...everyShape({ files: null }), files: { files }, empty: { files: [] } },
  },
  {
    query: `{ ${organization} { plugin(id: 7) { answer: source { files { name text } } } } }`,
    call: `GET ${pluginsPath}7/source/`,
    answers: { ...everyShape({ files: null }), files: { files }, empty: { files: [] } },
  },
  {
    query: `{ ${organization} { answer: pluginActivity { totalCount entries { activity } } } }`,
    call: `GET ${pluginsPath}activity/`,
    answers: {
      ...everyShape({ totalCount: null, entries: [{ activity: null }] }),
      activity: { totalCount: 1, entries: [{ activity: 'installed' }] },
      ids: { totalCount: null, entries: null },
      nothing: { totalCount: null, entries: [] },
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
      ...everyShape([{ name: null }]),
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
      ...everyShape(refused),
      plugin: [{ upstreamId: '7' }],
      ids: [{ upstreamId: '1' }, { upstreamId: '2' }, { upstreamId: '3' }],
      nothing: [],
    },
  },
];

test('every plugin action takes the shapes of the known deployment, and the Plugin of the document', async () => {
  const { upstream, gateway, answerWith } = await startChanging();
  for (const { query, call, answers } of actions) {
    for (const [shape, body] of Object.entries(shapes)) {
      answerWith({ [call]: reply({ body: JSON.stringify(body) }), [`GET ${pluginsPath}7/`]: plugin(7, read) });
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
