import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { at } from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { eventsOf } from '../support/lists.ts';
import { reply } from '../support/replies.ts';
import { event } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';
import { inputOf, parametersOf } from './document.ts';
import { askThriceExactly } from './thrice.ts';

const path = '/api/projects/1/events/';
const empty = { next: null, results: [] };

/** Each filter alone: its literal, the parameter it becomes, and that parameter in the query, byte for byte. */
const filters = [
  ['occurredAfter', '"2024-05-01T10:00:00+02:00"', 'after', '2024-05-01T08%3A00%3A00Z'],
  ['occurredBefore', '"2024-05-01T10:00:00.123456Z"', 'before', '2024-05-01T10%3A00%3A00.123456Z'],
  ['distinctId', '"007 +00:00&limit=9"', 'distinct_id', '007%20%2B00%3A00%26limit%3D9'],
  ['event', '"$page/view?#%"', 'event', '%24page%2Fview%3F%23%25'],
  ['personId', '"90071992547409930"', 'person_id', '90071992547409930'],
  [
    'properties',
    '[{ key: "$os", value: ["a\\"b", 9007199254740993, null], type: "event" }, { id: 7 }]',
    'properties',
    '%5B%7B%22key%22%3A%22%24os%22%2C%22value%22%3A%5B%22a%5C%22b%22%2C9007199254740993%2Cnull%5D%2C%22type%22%3A%22event%22%7D%2C%7B%22id%22%3A7%7D%5D',
  ],
  [
    'where',
    '["properties.$os = \'x\'", "1 + 1"]',
    'where',
    "%5B%22properties.%24os%20%3D%20'x'%22%2C%221%20%2B%201%22%5D",
  ],
] as const;

/** All of them together, in the order in which they are sent. */
const wholeFilter = `{ ${filters.map(([field, literal]) => `${field}: ${literal}`).join(', ')} }`;
const wholeQuery = filters.map(([, , name, value]) => `${name}=${value}`);

test('the filters are the parameters of the OpenAPI document, but for those with an argument of their own', () => {
  const others = ['project_id', 'limit', 'offset', 'format', 'select'];
  const names = [...filters.map(([, , name]) => name), ...others];
  const documented = parametersOf('listEvents').map(({ name }) => name);
  expect(names.toSorted()).toEqual(documented.toSorted());
  expect(filters.map(([field]) => field).toSorted()).toEqual(
    Object.keys(inputOf('EventFilter').getFields()).toSorted(),
  );
});

async function requestsOf(selection: string, answer: Parameters<typeof startUpstream>[0] = () => empty) {
  await using upstream = await startUpstream(answer);
  await using gateway = await startGateway(upstream);
  const { data, errors } = await askThriceExactly(gateway, upstream, `{ project(id: 1) { ${selection} } }`);
  return { data, errors, requests: [...upstream.requests], accept: upstream.records[0]?.headers.accept };
}

test.each([
  ['distinctId', 'events(filter: { distinctId: $half }) { nodes { id } }'],
  ['event', 'events(filter: { event: $half }) { nodes { id } }'],
  ['personId', 'eventsCsv(filter: { personId: $half }) { csv }'],
  ['key', 'eventValues(key: $half) { body }'],
  ['eventName', 'eventValues(key: "a", eventName: $half) { body }'],
])('half a surrogate pair, which no query can hold, is bad input as %s', async (argument, selection) => {
  const { upstream, gateway } = await startBoth(() => empty);
  const query = `query Q($half: String = "") { project(id: 1) { ${selection} } }`;
  const { errors } = await askThriceExactly(gateway, upstream, query, String.raw`{"half":"\ud800"}`);
  expect(errors?.map(({ message, extensions }) => [message, extensions['code']])).toEqual([
    [`Expected \`${argument}\` to be Unicode text, but got "\\ud800".`, 'BAD_USER_INPUT'],
  ]);
  expect(upstream.requests).toEqual([]);
  expect(gateway.reported).toEqual([]);
});

describe('a filter of the events list', () => {
  test.each(filters)('%s: %s is sent as %s=%s', async (field, literal, name, value) => {
    const { requests, errors } = await requestsOf(`events(filter: { ${field}: ${literal} }) { nodes { id } }`);
    expect({ requests, errors }).toEqual({ requests: [`GET ${path}?limit=50&${name}=${value}`], errors: undefined });
  });

  test('comes through whole in one request, each list as one JSON parameter', async () => {
    const { requests } = await requestsOf(`events(first: 3, filter: ${wholeFilter}) { nodes { id } }`);
    expect(requests).toEqual([`GET ${path}?limit=3&${wholeQuery.join('&')}`]);
  });

  test('goes upstream from variables as from literals, digit for digit', async () => {
    const { upstream, gateway } = await startBoth(() => empty);
    const query = 'query Events($filter: EventFilter) { project(id: 1) { events(filter: $filter) { nodes { id } } } }';
    const members = filters.map(([field, literal]) => `"${field}":${literal.replaceAll(/(\w+): /g, '"$1": ')}`);
    const { errors } = await askThriceExactly(gateway, upstream, query, `{"filter":{${members.join(',')}}}`);
    expect(errors).toBeUndefined();
    expect(upstream.requests).toEqual([`GET ${path}?limit=50&${wholeQuery.join('&')}`]);
  });

  test.each(filters)('%s that is null is not sent', async (field) => {
    const { requests, errors } = await requestsOf(`events(filter: { ${field}: null }) { nodes { id } }`);
    expect({ requests, errors }).toEqual({ requests: [`GET ${path}?limit=50`], errors: undefined });
  });

  test.each(['filter: null', 'filter: {}', 'filter: { properties: [], where: [] }'])(
    '%s filters nothing',
    async (text) => {
      const { requests } = await requestsOf(`events(${text}) { nodes { id } }`);
      expect(requests).toEqual([`GET ${path}?limit=50`]);
    },
  );

  test.each(['"yesterday"', '""', '"2024-02-30"', '"2023-02-29T00:00:00Z"', '"2024-05-01T25:00:00Z"', '5', 'true'])(
    'the time %s is refused before any call',
    async (given) => {
      const field = `events(filter: { occurredAfter: ${given} }) { nodes { id } }`;
      const { requests, errors = [] } = await requestsOf(field);
      expect(requests).toEqual([]);
      expect(errors).toHaveLength(1);
      expect(['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED']).toContain(errors[0]?.extensions['code']);
    },
  );
});

test('the second page is asked for by time, the last row again, the plus of the zone encoded, the filter kept and the offset dropped', async () => {
  const { upstream, gateway } = await startBoth({ [`GET ${path}`]: eventsOf([1, 2, 3].map((id) => event(id))) });
  const page = async (after: string) =>
    gateway.ask(`{ project(id: 1) { events(first: 2, after: ${after}, filter: { event: "$pageview" })
      { nodes { timestamp } pageInfo { endCursor } } } }`);
  const first = await page('null');
  await page(JSON.stringify(at(first.data, 'project', 'events', 'pageInfo', 'endCursor')));
  expect(upstream.requests).toEqual([
    `GET ${path}?limit=2&event=%24pageview`,
    `GET ${path}?limit=3&before=2024-05-01T09%3A59%3A58.999000%2B00%3A00&event=%24pageview`,
  ]);
});

describe('events in other forms', () => {
  const csv = 'event,timestamp\r\n$pageview,2024-05-01\r\n';

  test('the text of a CSV file comes as it is, with every filter, asked for as CSV', async () => {
    const answer = reply({ headers: { 'content-type': 'text/csv' }, body: csv });
    const found = await requestsOf(`eventsCsv(first: 3, filter: ${wholeFilter}) { csv }`, () => answer);
    expect(found).toEqual({
      data: { project: { eventsCsv: { csv } } },
      errors: undefined,
      requests: [`GET ${path}?limit=3&${wholeQuery.join('&')}&format=csv`],
      accept: 'text/csv',
    });
  });

  test('rows come as the query language gives them, `select` being one JSON parameter before `where`', async () => {
    const results = [['$pageview', 1], { a: null }, null, 'text', 7];
    const selection = `eventRows(select: ["event", "properties.$os"], first: 3, filter: ${wholeFilter}) { rows }`;
    const found = await requestsOf(selection, () => ({ next: null, results }));
    const select = 'select=%5B%22event%22%2C%22properties.%24os%22%5D';
    expect(found).toEqual({
      data: { project: { eventRows: { rows: results } } },
      errors: undefined,
      requests: [`GET ${path}?limit=3&${wholeQuery.toSpliced(-1, 0, select).join('&')}`],
      accept: 'application/json',
    });
  });

  test.each(['eventsCsv { csv }', 'eventRows(select: ["event"]) { rows }'])(
    '%s asks for 50 unless told',
    async (field) => {
      const answer =
        field === 'eventsCsv { csv }' ? reply({ headers: { 'content-type': 'text/csv' }, body: csv }) : empty;
      const { requests, errors } = await requestsOf(field, () => answer);
      expect(errors).toBeUndefined();
      expect(requests).toEqual([expect.stringContaining(`GET ${path}?limit=50&`)]);
    },
  );

  test.each([
    ['eventValues { body }', ''],
    ['eventValues(key: null, eventName: "$pageview") { body }', 'event_name=%24pageview'],
    ['eventValues(key: "$os") { body }', 'key=%24os'],
    ['eventValues(key: "$os", eventName: null) { body }', 'key=%24os'],
    ['eventValues(key: "a b&c", eventName: "$page+view") { body }', 'key=a%20b%26c&event_name=%24page%2Bview'],
  ])('%s is asked for with %s', async (field, query) => {
    const results = [{ name: 'Firefox' }, { name: null }];
    const found = await requestsOf(field, () => ({ results, refreshing: false }));
    expect(found.data).toEqual({ project: { eventValues: { body: { results, refreshing: false } } } });
    expect(found.requests).toEqual([`GET ${path}values/${query && `?${query}`}`]);
  });
});
