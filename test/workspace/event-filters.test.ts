import { afterAll, describe, expect, test } from 'vitest';
import { type Members, membersOf, resultsOf, rowsOf, startClient, targetOf } from './client.ts';

const base = '/api/projects/1/events/';

const idsOf = (events: readonly Members[]) => events.map(({ id }) => id);
const propertiesOf = ({ properties }: Members) => membersOf(properties);
const elementOf = ({ elements }: Members) => rowsOf(elements)[0] ?? {};
const personOf = ({ person }: Members) => (person === null ? {} : membersOf(membersOf(person).properties));

/** A workspace whose events are searched. Nothing here writes, so that one serves all tests of a group. */
async function startSearched(eventsNext: 'offset' | 'before') {
  const client = await startClient({ eventsNext });
  afterAll(() => client[Symbol.asyncDispose]());

  /** All events of the project that pass, from as many pages as there are. */
  async function search(query: Readonly<Record<string, string>>): Promise<Members[]> {
    const found: Members[] = [];
    for (let target = `${base}?${new URLSearchParams({ limit: '1000', ...query })}`; ; ) {
      const page = membersOf(await client.read(target));
      found.push(...resultsOf(page));
      if (page.next === null) return found;
      target = targetOf(page.next);
    }
  }

  const everything = search({});

  /** The ids that a search finds, and those that the predicate picks, which must be some but not all. */
  async function compare(
    query: Readonly<Record<string, string>>,
    picks: (event: Members) => boolean,
  ): Promise<{ found: unknown[]; wanted: unknown[] }> {
    const all = await everything;
    const wanted = all.filter(picks);
    if (wanted.length === 0 || wanted.length === all.length)
      throw new Error('expected a predicate that tells events apart');
    return { found: idsOf(await search(query)), wanted: idsOf(wanted) };
  }

  return { client, search, compare };
}

describe.each(['offset', 'before'] as const)('with WORKSPACE_EVENTS_NEXT=%s', async (eventsNext) => {
  const { client, search, compare } = await startSearched(eventsNext);

  test('event filters by name', async () => {
    const { found, wanted } = await compare({ event: 'search performed' }, ({ event }) => event === 'search performed');
    expect(found).toEqual(wanted);
  });

  test('after and before leave out their own moment, to the microsecond', async () => {
    const events = await search({});
    const newest = String(events[3]?.timestamp);
    const oldest = String(events[6]?.timestamp);
    expect(idsOf(await search({ after: oldest, before: newest }))).toEqual(idsOf(events.slice(4, 6)));
  });

  test('empty parameters filter nothing', async () => {
    const query = { after: '', before: '', event: '', distinct_id: '', person_id: '', properties: '[]', where: '[]' };
    expect(await search({ ...query, select: '[]', limit: '200' })).toHaveLength(1400);
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
    expect(new URL(String(page.next)).searchParams.get(eventsNext)).toBe(
      eventsNext === 'offset' ? '1' : rest.timestamp,
    );
  });
});

describe('searched events', async () => {
  const { client, search, compare } = await startSearched('offset');

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
    [{ key: '$browser', value: '^C', operator: 'not_regex' }, (event) => propertiesOf(event).$browser !== 'Chrome'],
    [{ key: 'nights', value: 5, operator: 'gte' }, (event) => Number(propertiesOf(event).nights ?? 0) >= 5],
    [{ key: 'nights', value: 5, operator: 'lte' }, (event) => Number(propertiesOf(event).nights ?? 9) <= 5],
    [
      { key: 'nights', value: ['3', 4], operator: 'in' },
      (event) => [3, 4].includes(Number(propertiesOf(event).nights)),
    ],
    [
      { key: '$browser', value: ['Chrome', 'Edge'], operator: 'not_in' },
      (event) => !['Chrome', 'Edge'].includes(String(propertiesOf(event).$browser)),
    ],
    [
      { key: 'nights', value: [3, 5], operator: 'between' },
      (event) => [3, 4, 5].includes(Number(propertiesOf(event).nights)),
    ],
    [
      { key: 'nights', value: [3, 5], operator: 'not_between' },
      (event) => ![3, 4, 5].includes(Number(propertiesOf(event).nights)),
    ],
    [{ key: 'id', value: 2, type: 'cohort' }, (event) => personOf(event).country === 'DE'],
    [{ key: 'id', value: 2, type: 'cohort', operator: 'not_in' }, (event) => personOf(event).country !== 'DE'],
    [
      { key: 'id', value: 1, type: 'precalculated-cohort', operator: 'in' },
      (event) => ['plus', 'business'].includes(String(personOf(event).plan)),
    ],
    [{ key: 'text', value: 'Book now', type: 'element' }, (event) => elementOf(event).text === 'Book now'],
    [
      { key: 'text', value: 'Book now', type: 'element', operator: 'is_not' },
      (event) => elementOf(event).text !== 'Book now',
    ],
    [
      { key: 'selector', value: 'button.primary[text="Search"]', type: 'element' },
      (event) => elementOf(event).text === 'Search',
    ],
    [
      { key: 'selector', value: ['a', '.primary'], type: 'element', operator: 'is_not' },
      (event) => event.event !== '$autocapture',
    ],
    [{ key: "event = '$pageview'", type: 'hogql' }, (event) => event.event === '$pageview'],
    [
      {
        type: 'OR',
        values: [
          { key: '$browser', value: 'Edge' },
          {
            type: 'AND',
            values: [
              { key: '$os', value: 'Linux' },
              { key: 'plan', value: 'free', type: 'person' },
            ],
          },
        ],
      },
      (event) =>
        propertiesOf(event).$browser === 'Edge' ||
        (propertiesOf(event).$os === 'Linux' && personOf(event).plan === 'free'),
    ],
  ])('properties filters by %j', async (filter, picks) => {
    const { found, wanted } = await compare({ properties: JSON.stringify([filter]) }, picks);
    expect(found).toEqual(wanted);
  });

  test('a property is not set by what objects inherit', async () => {
    const properties = JSON.stringify([{ key: 'constructor', operator: 'is_set' }]);
    expect(await search({ properties })).toEqual([]);
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
    ["event = '$pageview' or event = '$autocapture'", ({ event }) => event === '$pageview' || event === '$autocapture'],
    [
      "event = '$pageview' and (properties.$os = 'Linux' or properties.$browser = 'Edge')",
      (event) =>
        event.event === '$pageview' && (propertiesOf(event).$os === 'Linux' || propertiesOf(event).$browser === 'Edge'),
    ],
    ["not event = '$pageview'", ({ event }) => event !== '$pageview'],
    ["event in ('$pageview', '$autocapture')", ({ event }) => event === '$pageview' || event === '$autocapture'],
    ["event NOT IN ['$pageview']", ({ event }) => event !== '$pageview'],
    ["properties.$browser not like 'F%'", (event) => propertiesOf(event).$browser !== 'Firefox'],
    ['properties.nights between 2 and 4', (event) => [2, 3, 4].includes(Number(propertiesOf(event).nights))],
    ['properties.nights is null', (event) => propertiesOf(event).nights === undefined],
    ['properties.nights is not null', (event) => propertiesOf(event).nights !== undefined],
    ['properties.nights * 2 + 1 > 9', (event) => Number(propertiesOf(event).nights ?? 0) > 4],
    ["properties['nights'] = 3", (event) => propertiesOf(event).nights === 3],
    ['properties."nights" = 3', (event) => propertiesOf(event).nights === 3],
    [
      "properties.$browser =~ '^(Ed|Fi)'",
      (event) => ['Edge', 'Firefox'].includes(String(propertiesOf(event).$browser)),
    ],
    ["properties.$browser !~ '^C'", (event) => propertiesOf(event).$browser !== 'Chrome'],
    ["lower(properties.$browser) = 'edge'", (event) => propertiesOf(event).$browser === 'Edge'],
    ["startsWith(event, '$page')", ({ event }) => String(event).startsWith('$page')],
    ["if(isNull(person_id), 'nobody', 'somebody') = 'nobody'", ({ person }) => person === null],
    ["timestamp >= '2026-11-10T02:00:00+02:00'", ({ timestamp }) => String(timestamp) >= '2026-11-10T00:00:00'],
    ["timestamp > toDateTime('2026-11-17') - interval 7 day", ({ timestamp }) => String(timestamp) > '2026-11-10'],
    ["toDate(timestamp) = '2026-11-10'", ({ timestamp }) => String(timestamp).startsWith('2026-11-10')],
    ['toHour(timestamp) < 6', ({ timestamp }) => Number(String(timestamp).slice(11, 13)) < 6],
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

  test.each([
    ['after', 'yesterday', 'after'],
    ['before', '2026-13-01T00:00:00Z', 'before'],
    ['before', '2026-11-01T00:00:00 00:00', 'before'],
    ['properties', '{', 'properties'],
    ['properties', '{"$browser":"Chrome"}', 'properties'],
    ['properties', '["x"]', 'properties__0'],
    ['properties', '[{"value":1}]', 'properties__0__key'],
    ['properties', '[{"key":"a","type":"weather"}]', 'properties__0__type'],
    ['properties', '[{"key":"id","value":99,"type":"cohort"}]', 'properties__0__value'],
    ['properties', '[{"key":"id","value":1,"type":"cohort","operator":"gt"}]', 'properties__0__operator'],
    ['properties', '[{"key":"a","type":"group","group_type_index":5}]', 'properties__0__group_type_index'],
    ['properties', '[{"key":"selector","type":"element","value":"a:hover"}]', 'properties__0__value'],
    ['properties', '[{"key":"event =","type":"hogql"}]', 'properties__0__key'],
    [
      'properties',
      '[{"type":"OR","values":[{"key":"a","operator":"gt","value":"x"}]}]',
      'properties__0__values__0__value',
    ],
    ['properties', '[{"key":"a","operator":"between","value":[1]}]', 'properties__0__value'],
    ['properties', '[{"key":"a","operator":"is_date_after","value":"soon"}]', 'properties__0__value'],
    ['after', '2026-02-30', 'after'],
    ['properties', '[{"key":"a"},{"key":"a","operator":"resembles"}]', 'properties__1__operator'],
    ['properties', '[{"key":"a","value":"(","operator":"regex"}]', 'properties__0__value'],
    ['where', "event = '$pageview'", 'where'],
    ['where', '["count()"]', 'where'],
    ['where', '["event = unknown"]', 'where'],
    ['where', '[5]', 'where__0'],
    ['select', '["event","count()"]', 'select'],
    ['select', '["constructor"]', 'select'],
    ['select', '["event = event = event"]', 'select'],
    ['where', '["event in"]', 'where'],
    ['where', '["(event"]', 'where'],
    ['where', '["event not \'a\'"]', 'where'],
    ['where', '["event is 5"]', 'where'],
    ['where', '["lower(event, event)"]', 'where'],
    ['where', '["timestamp > \'yesterday\'"]', 'where'],
    ['where', '["match(event, \'(\')"]', 'where'],
    ['where', '["event # 1"]', 'where'],
    ['select', '["event as"]', 'select'],
    ['select', `["${'('.repeat(60)}1${')'.repeat(60)}"]`, 'select'],
    ['select', `["'${'a'.repeat(2000)}'"]`, 'select'],
  ])('%s refuses %s', async (name, value, attr) => {
    const { status, body } = await client.send('GET', `${base}?${new URLSearchParams({ [name]: value })}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ type: 'validation_error', attr });
  });

  test('a time whose plus sign was not encoded is refused, as a space is no zone', async () => {
    const { status, body } = await client.send('GET', `${base}?after=2026-11-01T00:00:00+00:00`);
    expect({ status, attr: membersOf(body).attr }).toEqual({ status: 400, attr: 'after' });
  });
});
