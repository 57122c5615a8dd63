import { isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { Tool } from '../../src/mcp/tool.ts';
import { createSchema } from '../../src/schema.ts';
import { requestOf } from '../support/plans.ts';

const schema = createSchema();

/** The tool that a document is. */
function toolOf(text: string): Tool {
  const request = requestOf(text);
  const limits = { maxPageSize: 100, maxUpstreamCalls: 150, maxUpstreamRows: 50_000, maxAnswerObjects: 100_000 };
  return new Tool('A', 'id', request, { schema, ...limits });
}

/** The fewest REST calls of the tool that a document is. */
function lowerOf(text: string): number {
  return toolOf(text).definitionFor(undefined)._meta.restCalls.lower;
}

const ofA = 'a: eventValues(key: $a) { body }';
const ofB = 'b: eventValues(key: $b) { body }';
const ofX = 'x: eventValues(key: "x") { body }';

test.each([
  ['two variables', `query A($a: String!, $b: String!) { project(id: "1") { ${ofA} ${ofB} } }`],
  ['a variable and the document', `query A($a: String!) { project(id: "1") { ${ofA} ${ofX} } }`],
  [
    'a variable and the default of another',
    `query A($a: String!, $b: String = "x") { project(id: "1") { ${ofA} ${ofB} } }`,
  ],
  [
    'a variable and a fragment',
    `query A($a: String!) { project(id: "1") { ${ofA} ...X } } fragment X on Project { ${ofX} }`,
  ],
  [
    'a filter and the document',
    `query A($a: EventFilter!) { project(id: "1") { a: events(filter: $a) { totalCount nodes { event } }
      b: events(filter: { event: "x" }) { nodes { event } } } }`,
  ],
])('the fewest REST calls of a tool are those for which %s name the same', (_what, text) => {
  expect(lowerOf(text)).toBe(1);
});

test.each([
  [
    'a switch and an id',
    `query A($no: Boolean = false, $a: ID!) {
      node(id: $a) { ... on Organization { ... @skip(if: $no) { pluginActivity { body } } } } }`,
  ],
  [
    'three lists',
    `query A($a: [ID!]!, $b: [ID!]!, $c: [ID!]!) {
      a: nodes(ids: $a) { id } b: nodes(ids: $b) { id } c: nodes(ids: $c) { id } }`,
  ],
])('the fewest REST calls of a tool are found where %s have to change together', (_what, text) => {
  expect(lowerOf(text)).toBe(0);
});

test('places that can never name the same are read each', () => {
  expect(lowerOf(`query A { project(id: "1") { ${ofX} y: eventValues(key: "y") { body } } }`)).toBe(2);
});

const csvOf = (alias: string): string => `${alias}: eventsCsv(first: $${alias}) { csv }`;
const eventsOf = (alias: string, filter: string): string =>
  `${alias}: events(filter: { ${filter}: $${alias} }) { nodes { event } }`;

test.each([
  [
    'page sizes',
    `query A($a: Int, $b: Int, $c: Int) { project(id: "1") { ${csvOf('a')} ${csvOf('b')} ${csvOf('c')} } }`,
    3,
  ],
  [
    'moments',
    `query A($a: DateTime, $b: DateTime) {
      project(id: "1") { ${eventsOf('a', 'occurredAfter')} ${eventsOf('b', 'occurredAfter')} } }`,
    2,
  ],
  [
    'filters',
    `query A($a: [JSON!], $b: [JSON!]) { project(id: "1") { ${eventsOf('a', 'properties')} ${eventsOf('b', 'properties')} } }`,
    2,
  ],
])('the most REST calls of a tool are those for which all %s differ', (_what, text, lists) => {
  expect(toolOf(text).definitionFor(undefined)._meta.restCalls.upper).toBe(1 + lists);
});

test('the most REST calls of a tool are found where a switch and an id have to change together', () => {
  const { upper } = toolOf(`query A($no: Boolean = false, $id: ID!, $last: Int) { organization(id: $id) {
    ... @skip(if: $no) { id }
    ... @include(if: $no) { pluginActivity { totalCount } }
    pluginActivity { totalCount }
    plugins(last: $last) { pageInfo { hasNextPage } } } }`).definitionFor(undefined)._meta.restCalls;
  // The project that is open, the activity, and two pages of the plugins.
  expect(upper).toBe(4);
});

const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});

test.each(mutations.map(({ name }) => name))('the tool %s costs a REST call, whatever its input names', (name) => {
  const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
  const whole = toolOf(`mutation A($input: ${type}!) { ${name}(input: $input) { __typename } }`);
  expect(whole.definitionFor(undefined)._meta.restCalls.upper).toBeGreaterThan(0);
  const input = schema.getType(type);
  const fields = isInputObjectType(input) ? Object.values(input.getFields()) : [];
  const variables = fields.map((field) => `$${field.name}: ${String(field.type)}`).join(', ');
  const members = fields.map((field) => `${field.name}: $${field.name}`).join(', ');
  const each = toolOf(`mutation A(${variables}) { ${name}(input: { ${members} }) { __typename } }`);
  expect(each.definitionFor(undefined)._meta.restCalls.upper).toBeGreaterThan(0);
});
