import { afterEach, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { askThriceExactly } from './thrice.ts';

/** The marker that graphql-jit 0.8.9 puts before a date, and takes out again with `new Date(…)` around what follows. */
const marker = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';
const attack = `${marker}0, globalThis.executed = true`;
const values = 'GET /api/projects/1/events/values/';

afterEach(() => {
  // Whatever ran would be seen by the next test, too.
  Reflect.deleteProperty(globalThis, 'executed');
});

test.each([
  ['in a string', `eventValues(key: "${attack}") { body }`, attack],
  ['in a string with escapes', String.raw`eventValues(key: "${attack.replaceAll('_', '\\u005f')}") { body }`, attack],
  ['in a block string', `eventValues(key: """${attack}""") { body }`, attack],
  ['behind a quote', String.raw`eventValues(key: "a\"${attack}") { body }`, `a"${attack}`],
  [
    'which stands for no number',
    `eventValues(key: "__MAGIC_NAN__57f286b9_4c20_487f_b409_79804ddcb4f8") { body }`,
    '__MAGIC_NAN__57f286b9_4c20_487f_b409_79804ddcb4f8',
  ],
])('a marker of the compiler %s is text like any other', async (_where, selection, key) => {
  const { upstream, gateway } = await startBoth({ [values]: [] });
  const { body } = await askThriceExactly(gateway, upstream, `{ project(id: 1) { ${selection} } }`);
  expect(body).toBe('{"data":{"project":{"eventValues":{"body":[]}}}}');
  expect(upstream.requests).toEqual([`${values}?key=${encodeURIComponent(key)}`]);
  expect(globalThis).not.toHaveProperty('executed');
});

test.each([
  ['the name of a member', `{ ${marker}: 1 }`, { [marker]: 1 }],
  ['a name where a value stands', `{ a: ${marker} }`, { a: marker }],
  ['a text within lists', `{ a: [["${attack}"]] }`, { a: [[attack]] }],
])('a marker of the compiler that is %s of JSON is text like any other', async (_where, literal, sent) => {
  const line = 'PATCH /api/projects/1/';
  const { upstream, gateway } = await startBoth({ [line]: { id: 1 } });
  const query = `mutation { updateProject(input: { id: 1, extra: ${literal} }) { project { upstreamId } } }`;
  const { body } = await askThriceExactly(gateway, upstream, query);
  expect(body).toBe('{"data":{"updateProject":{"project":{"upstreamId":"1"}}}}');
  expect(upstream.records.map((record) => record.body)).toEqual([JSON.stringify(sent)]);
  expect(globalThis).not.toHaveProperty('executed');
});

test('a marker of the compiler in a variable, its default or an alias is text like any other', async () => {
  const { upstream, gateway } = await startBoth({ [values]: [] });
  const query = `query Values($key: String!, $other: String! = "${attack}") {
    project(id: 1) { ${marker}: eventValues(key: $key) { body } other: eventValues(key: $other) { body } }
  }`;
  const { data, errors } = await askThriceExactly(gateway, upstream, query, JSON.stringify({ key: attack }));
  expect(errors).toBeUndefined();
  expect(data).toEqual({ project: { [marker]: { body: [] }, other: { body: [] } } });
  expect(globalThis).not.toHaveProperty('executed');
});
