import { describe, expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { isLater } from '../../src/rest/instants.ts';
import { startBoth } from '../support/both.ts';
import { at, textAt } from '../support/connections.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type JsonObject, type Reply, reply } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { event } from '../support/rows.ts';
import { tiedEvents } from '../support/ties.ts';
import { startUpstream } from '../support/upstream.ts';

const path = '/api/projects/1/events/';

/** The way in which an upstream links the next page of a list, and its largest page. */
interface Dialect {
  readonly next: 'offset' | 'before';
  readonly cap?: number;
}

/** Events as CSV if it is asked for, else the id of each. */
function tableOf(rows: readonly JsonObject[], { next, cap = 1000 }: Dialect): Handler {
  return ({ query }) => {
    const before = query.get('before');
    const between = rows.filter(({ timestamp }) => before === null || isLater(before, timestamp));
    const offset = Number(query.get('offset') ?? 0);
    const end = offset + Math.min(Number(query.get('limit')), cap);
    const page = between.slice(offset, end);
    if (query.get('format') === 'csv') return csvOf(page);
    const place =
      next === 'offset' ? `offset=${end}` : `before=${encodeURIComponent(textOf(page.at(-1)?.['timestamp']))}`;
    const results = page.map(({ id = null }) => [id]);
    return { next: end < between.length ? `https://upstream.example${path}?${place}` : null, results };
  };
}

function csvOf(rows: readonly JsonObject[]): Reply {
  const lines = rows.map(({ id, timestamp }) => `"a\r\n""quoted"", text",${textOf(timestamp)},${textOf(id)}\r\n`);
  return reply({ headers: { 'content-type': 'text/csv' }, body: `text,timestamp,id\r\n${lines.join('')}` });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const csvIds = (csv: unknown): string[] =>
  [...String(csv).matchAll(/,([^,\r\n]+)\r\n/g)].map(([, id = '']) => id).slice(1);
const rowIds = (rows: unknown): string[] => (Array.isArray(rows) ? rows.map((row) => textOf(at(row, 0))) : []);

const fields = [
  { field: 'eventsCsv', args: '', content: 'csv', idsOf: csvIds },
  { field: 'eventsCsv', args: ', select: ["id"]', content: 'csv', idsOf: csvIds },
  { field: 'eventRows', args: ', select: ["id"]', content: 'rows', idsOf: rowIds },
] as const;

/** The ids of each page, as far as `hasNextPage` says. */
async function walk(gateway: TestGateway, { field, args, content, idsOf }: (typeof fields)[number], first: number) {
  const pages: string[][] = [];
  const page = `${field}(first: ${first}, after: $after${args}) { ${content} endCursor hasNextPage }`;
  for (let after: unknown = null, goesOn = true; goesOn && pages.length < 50; ) {
    const asked = await gateway.ask(`query ($after: String) { project(id: 1) { ${page} } }`, { variables: { after } });
    expect(asked.errors).toBeUndefined();
    const answer = at(asked.data, 'project', field);
    pages.push(idsOf(at(answer, content)));
    after = at(answer, 'endCursor');
    goesOn = at(answer, 'hasNextPage') === true;
  }
  return pages;
}

describe.each(fields)('$field $args', (field) => {
  test.each([{ next: 'offset' }, { next: 'before' }, { next: 'offset', cap: 3 }, { next: 'before', cap: 3 }] as const)(
    'walks every event once, ties and capped pages included: $next $cap',
    async (dialect) => {
      for (const tied of [0, 1, 9]) {
        const rows = tiedEvents(2, tied, 2);
        await using upstream = await startUpstream({ [`GET ${path}`]: tableOf(rows, dialect) });
        upstream.release();
        await using gateway = await startGateway(upstream);
        for (const first of [1, 4, 5, 20]) {
          const pages = await walk(gateway, field, first);
          expect(pages.flat()).toEqual(rows.map(({ id }) => id));
        }
      }
    },
  );

  test('refuses the cursor of another list, another selection or another field before any call', async () => {
    const { upstream, gateway } = await startBoth({
      [`GET ${path}`]: tableOf(tiedEvents(3, 0, 0), { next: 'offset' }),
    });
    const listed = await gateway.ask(`{ project(id: 1) { page: ${field.field}(first: 1${field.args}) { endCursor }
      events(first: 1) { pageInfo { endCursor } } } }`);
    const [own, foreign] = [
      textAt(listed.data, 'project', 'page', 'endCursor'),
      textAt(listed.data, 'project', 'events', 'pageInfo', 'endCursor'),
    ];
    upstream.reset();
    const refused = [
      `project(id: 1) { ${field.field}(after: "${foreign}"${field.args}) { endCursor } }`,
      `project(id: 2) { ${field.field}(after: "${own}"${field.args}) { endCursor } }`,
      `project(id: 1) { ${field.field}(after: "${own}", select: ["other"]) { endCursor } }`,
      `project(id: 1) { ${field.field}(after: "${own}", filter: { event: "other" }${field.args}) { endCursor } }`,
      `project(id: 1) { events(after: "${own}") { nodes { id } } }`,
    ];
    for (const selection of refused) {
      const { errors } = await gateway.ask(`{ ${selection} }`);
      expect(errors?.map(({ message }) => message.includes('to be a cursor of this list'))).toEqual([true]);
    }
    expect(upstream.requests).toEqual([]);
  });

  test('refuses to answer no row, which upstreams take for their own default', async () => {
    const { upstream, gateway } = await startBoth({});
    const { errors } = await gateway.ask(`{ project(id: 1) { ${field.field}(first: 0${field.args}) { endCursor } } }`);
    expect(errors).toMatchObject([{ message: 'Expected `first` to be from 1 to 100, but got 0.' }]);
    expect(upstream.requests).toEqual([]);
  });
});

test('pages of CSV keep their rows while events arrive', async () => {
  const rows = tiedEvents(4, 0, 0);
  const { upstream, gateway } = await startBoth({
    [`GET ${path}`]: (request) => tableOf(rows, { next: 'offset' })(request),
  });
  const first = await gateway.ask('{ project(id: 1) { eventsCsv(first: 2) { csv endCursor } } }');
  rows.unshift(event(9, { timestamp: '2024-05-01T11:00:00Z' }));
  const after = textAt(first.data, 'project', 'eventsCsv', 'endCursor');
  const second = await gateway.ask(`{ project(id: 1) { eventsCsv(first: 2, after: "${after}") { csv } } }`);
  const ids = [first, second].flatMap(({ data }) => csvIds(at(data, 'project', 'eventsCsv', 'csv')));
  expect(ids).toEqual(rows.slice(1).map(({ id }) => id));
  expect(upstream.requests).toEqual([
    `GET ${path}?limit=2&format=csv`,
    `GET ${path}?limit=2&offset=2&before=2024-05-01T10%3A01%3A00Z&format=csv`,
  ]);
});

test('rows that go on behind an empty page are an error, since no client could go on', async () => {
  const { gateway } = await startBoth({ [`GET ${path}`]: { next: `${path}?offset=5`, results: [] } });
  const { errors } = await gateway.ask('{ project(id: 1) { eventRows(select: ["id"]) { rows } } }');
  expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
});

test('one event and the values of a property are answered as CSV, each for one call; no such event is null', async () => {
  const csv = (body: string) => reply({ headers: { 'content-type': 'text/csv' }, body });
  const { upstream, gateway } = await startBoth({
    [`GET ${path}e-1/`]: csv('id\r\ne-1\r\n'),
    [`GET ${path}values/`]: csv('name\r\nFirefox\r\n'),
    'GET /api/projects/1/': { id: 1 },
  });
  const id = toGlobalId({ type: 'Event', scope: '1', id: 'e-1' });
  const asked = await gateway.ask(`{ project(id: 1) { one: eventCsv(id: "e-1") same: eventCsv(id: "${id}")
    none: eventCsv(id: "e-2") values: eventValuesCsv(key: "$browser", eventName: "$pageview") } }`);
  expect(asked.errors).toBeUndefined();
  expect(asked.data).toEqual({
    project: { one: 'id\r\ne-1\r\n', same: 'id\r\ne-1\r\n', none: null, values: 'name\r\nFirefox\r\n' },
  });
  expect(upstream.requests.toSorted()).toEqual([
    `GET ${path}e-1/?format=csv`,
    `GET ${path}e-2/?format=csv`,
    `GET ${path}values/?key=%24browser&event_name=%24pageview&format=csv`,
  ]);
  expect(upstream.records.map(({ headers }) => headers.accept)).toEqual(['text/csv', 'text/csv', 'text/csv']);
});

test.each([
  [[{ name: 'Firefox' }, { name: 7 }, {}], [{ name: 'Firefox' }, { name: 7 }, { name: null }], null],
  [{ results: [{ name: 'Firefox' }], refreshing: true }, [{ name: 'Firefox' }], true],
  [['Firefox', null], [{ name: 'Firefox' }, { name: null }], null],
  ['nothing known', null, null],
])('values of events have their names: %j', async (body, values, refreshing) => {
  const { gateway } = await startBoth({ [`GET ${path}values/`]: reply({ body: JSON.stringify(body) }) });
  const asked = await gateway.ask('{ project(id: 1) { eventValues(key: "a") { values { name } refreshing body } } }');
  expect(asked.data).toEqual({ project: { eventValues: { values, refreshing, body } } });
});
