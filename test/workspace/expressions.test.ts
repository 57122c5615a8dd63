import { afterAll, expect, test } from 'vitest';
import { arrayOf } from '../../workspace/json.ts';
import { membersOf, resultsOf, startClient } from './client.ts';

// Nothing here writes, so that one workspace serves all. No search is given up on a slow machine.
const client = await startClient({ searchTimeMs: 60_000 });
afterAll(() => client[Symbol.asyncDispose]());

const base = '/api/projects/1/events/';
const parameters = (values: object): string =>
  new URLSearchParams(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString();

async function valueOf(expression: string): Promise<unknown> {
  const page = membersOf(await client.read(`${base}?${parameters({ limit: '1', select: [expression] })}`));
  const [row] = arrayOf(page.results);
  const [value] = arrayOf(row);
  return value;
}

test.each<[expression: string, value: unknown]>([
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['7 % 4 - -2 / 4', 3.5],
  ['1 / 0', null],
  ["'a' + 1", null],
  ['true or false and false', true],
  ['(true or false) and false', false],
  ['not true or true', true],
  ['not (true or true)', false],
  ["'it''s'", "it's"],
  ['(1, null)', [1, null]],
  ['[1, 2][2]', 2],
  ["concat('a', null, 1)", 'a1'],
  ["coalesce(null, 'b')", 'b'],
  ["ifNull(null, 'c')", 'c'],
  ["upper('a')", 'A'],
  ["trim(' a ')", 'a'],
  ["length('abc')", 3],
  ["substring('abcd', 2, 2)", 'bc'],
  ["position('abc', 'c')", 3],
  ["empty('')", true],
  ['notEmpty(null)', false],
  ["endsWith('abc', 'c')", true],
  ["notILike('Abc', 'a%')", false],
  ["'50%' like '50\\\\%'", true],
  ["'500' like '50\\\\%'", false],
  ["null like '%'", false],
  ['round(2.345, 2)', 2.35],
  ['greatest(1, 3, 2)', 3],
  ["least('b', 'a')", 'a'],
  ["toInt('7.9')", 7],
  ["toFloat('x')", null],
  ["'10' > '9'", true],
  ["'007' = 7", false],
  ['null = null', true],
  ['null < 1', false],
  ["toDateTime('2026-11-01T02:00:00+02:00')", '2026-11-01T00:00:00+00:00'],
  ["toDateTime('2026-11-01') = '2026-11-01T00:00:00.000000Z'", true],
  ["toStartOfMonth('2026-11-20T10:00:00Z')", '2026-11-01T00:00:00+00:00'],
  ["toStartOfDay('1969-12-31T10:00:00Z')", '1969-12-31T00:00:00+00:00'],
  ["dateDiff('day', '2026-11-01T23:00:00Z', '2026-11-02T01:00:00Z')", 1],
  ["toDateTime('2026-11-01') + interval 90 minute", '2026-11-01T01:30:00+00:00'],
  ["toDateTime('9999-12-31') + toIntervalWeek(9e15)", null],
  ["toDayOfWeek('2026-11-22')", 7],
  ['person.properties.none.none', null],
  ['properties.constructor.name', null],
])('the expression %s is %j', async (expression, value) => {
  expect(await valueOf(expression)).toEqual(value);
});

test('an expression of select may have a name, which CSV shows', async () => {
  const select = ['event as "what happened"', 'toYear(timestamp) AS year'];
  const { body } = await client.send(
    'GET',
    `${base}?${parameters({ limit: '1', format: 'csv', event: '$pageview', select })}`,
  );
  expect(body).toBe('what happened,year\r\n$pageview,2026\r\n');
});

test('filters on groups look at the group that an event names', async () => {
  const filter = { key: 'size', operator: 'gte', value: 100, type: 'group', group_type_index: 0 };
  const path = (properties: object[]) => `/api/projects/4/events/?${parameters({ limit: '1000', properties })}`;
  const found = resultsOf(await client.read(path([filter])));
  const all = resultsOf(await client.read(path([])));
  const large = all.filter(({ properties }) =>
    ['halcyon', 'meridian'].includes(String(membersOf(properties).$group_0)),
  );
  expect(large.length).toBeGreaterThan(0);
  expect(found).toEqual(large);
});

test.each([
  ['(a+)+$', 'regex'],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'regex'],
  ['(.*a){20}', 'regex'],
  ['(x+x+)+y', 'not_regex'],
])('the pattern %s, which backtracking engines choke on, is answered', async (value, operator) => {
  const text = `concat('${'a'.repeat(1000)}', event, '!')`;
  const where = [`${operator === 'regex' ? '' : 'not '}match(${text}, '${value}')`];
  const properties = [{ key: '$current_url', value, operator }];
  expect((await client.send('GET', `${base}?${parameters({ where })}`)).status).toBe(200);
  expect((await client.send('GET', `${base}?${parameters({ properties })}`)).status).toBe(200);
});

test.each(['%a', '_%', 'a%_'])('LIKE with hundreds of %s is answered', async (part) => {
  const where = [`concat('${'a'.repeat(900)}', event) like '${part.repeat(150)}!'`];
  const { status, body } = await client.send('GET', `${base}?${parameters({ where })}`);
  expect({ status, rows: resultsOf(body) }).toEqual({ status: 200, rows: [] });
});

test.each(['(a{1000}){1000}', 'a{1001}', '(a{100}){21}', '(?=a)a', '(a)\\\\1', 'a'.repeat(501)])(
  'the pattern %s, which is too large or beyond RE2, is refused',
  async (pattern) => {
    const { status, body } = await client.send(
      'GET',
      `${base}?${parameters({ where: [`match(event, '${pattern}')`] })}`,
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({ type: 'validation_error', attr: 'where' });
  },
);

test('a search that takes too long is given up, and the workspace answers others', async () => {
  await using impatient = await startClient({ searchTimeMs: 0 });
  const { status, body } = await impatient.send('GET', `${base}?${parameters({ properties: [{ key: 'none' }] })}`);
  expect({ status, body }).toMatchObject({ status: 512, body: { type: 'server_error', attr: null } });
  expect((await impatient.send('GET', '/api/projects/1/')).status).toBe(200);
});
