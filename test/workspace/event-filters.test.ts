import { afterAll, expect, test } from 'vitest';
import { type Members, membersOf, resultsOf, startClient } from './client.ts';

// Nothing here writes, so that one workspace serves all.
const client = await startClient();
afterAll(() => client[Symbol.asyncDispose]());

const base = '/api/projects/1/events/';

/** All events of the project that pass, from as many pages as there are. */
async function search(query: Readonly<Record<string, string>>): Promise<Members[]> {
  const found: Members[] = [];
  for (let before: string | undefined; ; before = String(found.at(-1)?.timestamp)) {
    const parameters = new URLSearchParams({ limit: '1000', ...query, ...(before !== undefined && { before }) });
    const page = membersOf(await client.read(`${base}?${parameters}`));
    found.push(...resultsOf(page));
    if (page.next === null) return found;
  }
}

const idsOf = (events: readonly Members[]) => events.map(({ id }) => id);
const propertiesOf = ({ properties }: Members) => membersOf(properties);
const personOf = ({ person }: Members) => (person === null ? {} : membersOf(membersOf(person).properties));

/** The ids that a search finds, and those that the predicate picks, which must be some but not all. */
async function compare(
  query: Readonly<Record<string, string>>,
  picks: (event: Members) => boolean,
): Promise<{ found: unknown[]; wanted: unknown[] }> {
  const all = await search({});
  const wanted = all.filter(picks);
  if (wanted.length === 0 || wanted.length === all.length)
    throw new Error('expected a predicate that tells events apart');
  return { found: idsOf(await search(query)), wanted: idsOf(wanted) };
}

test('event filters by name', async () => {
  const { found, wanted } = await compare({ event: 'search performed' }, ({ event }) => event === 'search performed');
  expect(found).toEqual(wanted);
});

test('distinct_id filters by text, leading zeros and all', async () => {
  const padded = (await search({})).find((event) => String(event.distinct_id).startsWith('0'));
  const distinctId = String(padded?.distinct_id);
  const found = await search({ distinct_id: distinctId });
  expect(found.length).toBeGreaterThan(1);
  expect(new Set(found.map((event) => event.distinct_id))).toEqual(new Set([distinctId]));
  expect(await search({ distinct_id: String(Number(distinctId)) })).toEqual([]);
});

test('person_id filters by number and by UUID', async () => {
  const byNumber = await search({ person_id: '7' });
  expect(byNumber.length).toBeGreaterThan(1);
  const uuids = new Set(byNumber.map(({ person }) => membersOf(person).uuid));
  expect(uuids.size).toBe(1);
  const [uuid] = uuids;
  expect(await search({ person_id: String(uuid) })).toEqual(byNumber);
});

test('after and before leave out their own moment, to the microsecond', async () => {
  const events = await search({});
  const newest = String(events[3]?.timestamp);
  const oldest = String(events[6]?.timestamp);
  expect(idsOf(await search({ after: oldest, before: newest }))).toEqual(idsOf(events.slice(4, 6)));
});

test.each([
  '2026-11-10T00:00:00Z',
  '2026-11-10',
  '2026-11-10T00:00',
  '2026-11-10 00:00:00.000000',
  '2026-11-10T02:00:00+02:00',
])('after reads %s', async (after) => {
  const { found, wanted } = await compare({ after }, ({ timestamp }) => String(timestamp) > '2026-11-10T00:00:00');
  expect(found).toEqual(wanted);
});

test('empty parameters filter nothing', async () => {
  const query = { after: '', before: '', event: '', distinct_id: '', person_id: '', properties: '[]', where: '[]' };
  expect(await search({ ...query, select: '[]', limit: '5' })).toHaveLength(1400);
});

test.each<[object, (event: Members) => boolean]>([
  [{ key: '$browser', value: 'Chrome' }, (event) => propertiesOf(event).$browser === 'Chrome'],
  [{ key: '$browser', value: 'Chrome', operator: 'exact' }, (event) => propertiesOf(event).$browser === 'Chrome'],
  [
    { key: '$browser', value: ['Chrome', 'Edge'] },
    (event) => ['Chrome', 'Edge'].includes(String(propertiesOf(event).$browser)),
  ],
  [{ key: 'nights', value: '3' }, (event) => propertiesOf(event).nights === 3],
  [{ key: 'nights', value: 3, operator: 'is_not' }, (event) => propertiesOf(event).nights !== 3],
  [
    { key: '$current_url', value: 'OFFERS', operator: 'icontains' },
    (event) => String(propertiesOf(event).$current_url).endsWith('/offers'),
  ],
  [
    { key: '$current_url', value: 'OFFERS', operator: 'not_icontains' },
    (event) => !String(propertiesOf(event).$current_url).endsWith('/offers'),
  ],
  [
    { key: '$browser', value: '^(Ed|Fi)', operator: 'regex' },
    (event) => ['Edge', 'Firefox'].includes(String(propertiesOf(event).$browser)),
  ],
  [{ key: 'nights', value: 5, operator: 'gt' }, (event) => Number(propertiesOf(event).nights ?? 0) > 5],
  [{ key: 'nights', value: '5', operator: 'lt' }, (event) => Number(propertiesOf(event).nights ?? 9) < 5],
  [{ key: 'nights', operator: 'is_set' }, (event) => propertiesOf(event).nights !== undefined],
  [{ key: 'nights', value: 'x', operator: 'is_not_set' }, (event) => propertiesOf(event).nights === undefined],
  [{ key: 'plan', value: 'plus', type: 'person' }, (event) => personOf(event).plan === 'plus'],
  [{ key: 'email', operator: 'is_not_set', type: 'person' }, ({ person }) => person === null],
  [{ key: '$browser', value: 'Ch.*\\-?e', operator: 'regex' }, (event) => propertiesOf(event).$browser === 'Chrome'],
])('properties filters by %j', async (filter, picks) => {
  const { found, wanted } = await compare({ properties: JSON.stringify([filter]) }, picks);
  expect(found).toEqual(wanted);
});

test('a property is not set by what objects inherit', async () => {
  const properties = JSON.stringify([{ key: 'constructor', operator: 'is_set' }]);
  expect(await search({ properties })).toEqual([]);
});

test('several property filters must all pass', async () => {
  const { found, wanted } = await compare(
    {
      properties: JSON.stringify([
        { key: '$browser', value: 'Edge' },
        { key: 'plan', value: 'free', type: 'person' },
      ]),
    },
    (event) => propertiesOf(event).$browser === 'Edge' && personOf(event).plan === 'free',
  );
  expect(found).toEqual(wanted);
});

test.each<[string, (event: Members) => boolean]>([
  ["event = '$pageview'", ({ event }) => event === '$pageview'],
  ["event == '$pageview'", ({ event }) => event === '$pageview'],
  ["'$pageview' != event", ({ event }) => event !== '$pageview'],
  ['properties.nights >= 10', (event) => Number(propertiesOf(event).nights ?? 0) >= 10],
  ['properties.nights<2', (event) => Number(propertiesOf(event).nights ?? 9) < 2],
  ['properties.nights <= 1', (event) => Number(propertiesOf(event).nights ?? 9) <= 1],
  ["timestamp > '2026-11-01'", ({ timestamp }) => String(timestamp) > '2026-11-01'],
  ["properties.$browser like 'F%x'", (event) => propertiesOf(event).$browser === 'Firefox'],
  ["properties.$browser ILIKE 'ed_e'", (event) => propertiesOf(event).$browser === 'Edge'],
  ["person.properties.plan = 'business'", (event) => personOf(event).plan === 'business'],
  ['person_id = null', ({ person }) => person === null],
])('where passes what %s holds for', async (expression, picks) => {
  const { found, wanted } = await compare({ where: JSON.stringify([expression]) }, picks);
  expect(found).toEqual(wanted);
});

test('several conditions of where must all hold', async () => {
  const { found, wanted } = await compare(
    { where: JSON.stringify(["event = '$pageview'", "properties.$os = 'Linux'"]) },
    (event) => event.event === '$pageview' && propertiesOf(event).$os === 'Linux',
  );
  expect(found).toEqual(wanted);
});

test('select answers rows of the values that the expressions have', async () => {
  const [event] = resultsOf(await client.read(`${base}?event=$pageview&limit=1`));
  const { properties, person, elements: _elements, ...rest } = membersOf(event);
  const expected: readonly (readonly [expression: string, value: unknown])[] = [
    ...Object.entries(rest),
    ['uuid', rest.id],
    ['properties', properties],
    ['person', person],
    ['person_id', person === null ? null : membersOf(person).uuid],
    ['properties.$browser', membersOf(properties).$browser],
    ['properties.none', null],
    ['properties.constructor', null],
    ["event = '$pageview'", true],
    ["event = 'it\\'s'", false],
    ['*', event],
    ['-1.5', -1.5],
    ['True', true],
    ['null', null],
  ];
  const select = JSON.stringify(expected.map(([expression]) => expression));
  const page = membersOf(await client.read(`${base}?event=$pageview&limit=1&select=${encodeURIComponent(select)}`));
  expect(page.results).toEqual([expected.map(([, value]) => value)]);
  expect(page.next).toContain(`before=${encodeURIComponent(String(rest.timestamp))}`);
});

test.each([
  ['after', 'yesterday', 'after'],
  ['before', '2026-13-01T00:00:00Z', 'before'],
  ['before', '2026-11-01T00:00:00 00:00', 'before'],
  ['properties', '{', 'properties'],
  ['properties', '{"$browser":"Chrome"}', 'properties'],
  ['properties', '["x"]', 'properties__0'],
  ['properties', '[{"value":1}]', 'properties__0__key'],
  ['properties', '[{"key":"a","type":"cohort"}]', 'properties__0__type'],
  ['properties', '[{"key":"a"},{"key":"a","operator":"between"}]', 'properties__1__operator'],
  ['properties', '[{"key":"a","value":"(","operator":"regex"}]', 'properties__0__value'],
  ['where', "event = '$pageview'", 'where'],
  ['where', '["count()"]', 'where'],
  ['where', '["event = unknown"]', 'where'],
  ['where', '[5]', 'where__0'],
  ['select', '["event","count()"]', 'select'],
  ['select', '["constructor"]', 'select'],
  ['select', '["a = b = c"]', 'select'],
])('%s refuses %s', async (name, value, attr) => {
  const { status, body } = await client.send('GET', `${base}?${new URLSearchParams({ [name]: value })}`);
  expect(status).toBe(400);
  expect(body).toMatchObject({ type: 'validation_error', attr });
});

test('a time whose plus sign was not encoded is refused, as a space is no zone', async () => {
  const { status, body } = await client.send('GET', `${base}?after=2026-11-01T00:00:00+00:00`);
  expect({ status, attr: membersOf(body).attr }).toEqual({ status: 400, attr: 'after' });
});
