import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { Tool } from '../../src/mcp/tool.ts';
import { createSchema } from '../../src/schema.ts';

const schema = createSchema();

/** The fewest REST calls of the tool that a document is. */
function lowerOf(text: string): number {
  const document = parse(text);
  const [operation] = document.definitions;
  if (operation?.kind !== 'OperationDefinition') throw new Error('expected an operation');
  const tool = new Tool('A', 'id', { document, operation }, { schema, maxPageSize: 100, maxUpstreamCalls: 150 });
  return tool.costFor(undefined).lower;
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
