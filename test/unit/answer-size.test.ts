import { Kind, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { fragmentsOf } from '../../src/look-ahead/selection-tree.ts';
import { type AnswerSize, answerSizeOf } from '../../src/plan/answer-size.ts';
import { createSchema } from '../../src/schema.ts';

const schema = createSchema();

function requestOf(query: string, coerced?: Record<string, unknown>) {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  const operation = document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('no operation');
  const variableValues = coerced && { sources: {}, coerced };
  return { schema, fragments: fragmentsOf(document), operation, maxPageSize: 100, variableValues };
}

function sizeOf(query: string, coerced?: Record<string, unknown>): AnswerSize {
  return answerSizeOf(requestOf(query, coerced));
}

test.each([
  ['nothing', '{ __typename }', 0],
  ['a record', '{ project(id: 1) { name } }', 1],
  ['a page of the default size, and the connection', '{ projects { nodes { name } } }', 51],
  ['edges, what they hold, and pageInfo', '{ projects(first: 3) { edges { node { id } } pageInfo { endCursor } } }', 8],
  ['what a column holds', '{ project(id: 1) { dashboards(last: 2) { nodes { createdBy { email } } } } }', 6],
  ['an organization that costs no call', '{ projects(first: 2) { nodes { organization { id } } } }', 5],
  ['a page that is refused as the largest', '{ projects(first: 100000) { nodes { id } } }', 101],
  ['an empty page as none of its rows', '{ projects(first: 0) { nodes { id } totalCount } }', 1],
  ['ids as often as they are given', '{ nodes(ids: ["a", "a", "a"]) { id } }', 3],
  [
    'objects of an interface by the type that answers most',
    '{ node(id: "a") { ... on Project { organization { id } } ... on Plugin { organization { id } source { body } } } }',
    3,
  ],
  [
    'payloads, and what is read below them',
    'mutation { createDashboard(input: {projectId: 1}) { dashboard { project { events(first: 5) { nodes { id } } } } } }',
    9,
  ],
  ['no JSON value', '{ project(id: 1) { testAccountFilters eventRows(select: ["event"]) { rows } } }', 2],
  [
    'one answer under two fields of the document once',
    '{ ...A ...B } fragment A on Query { projects(first: 2) { nodes { id } } } fragment B on Query { projects(first: 2) { nodes { name organization { id } } } }',
    5,
  ],
])('the objects of an answer count %s', (_what, query, objects) => {
  expect(sizeOf(query).objects).toBe(objects);
  expect(sizeOf(query, {}).objects).toBe(objects);
});

test('rows that refer to each other multiply, and the fullest place is named', () => {
  const query =
    '{ project(id: 1) { events(first: 100) { nodes { project { events(first: 100) { nodes { event } } } } } } }';
  expect(sizeOf(query)).toEqual({
    objects: 2 + 100 * (1 + 1 + 1 + 100),
    path: 'project.events.nodes.project.events.nodes',
    objectsThere: 10_000,
    introspects: false,
  });
});

test('without variables a size is that of the largest, with them it is exact', () => {
  const query = `query ($n: Int, $m: Int = 7, $ids: [ID!]!, $deep: Boolean!) {
    a: projects(first: $n) { nodes { id } }
    b: projects(last: $m) { nodes { id } }
    nodes(ids: $ids) { id ... @include(if: $deep) { ... on Dashboard { project { id } } } }
  }`;
  expect(sizeOf(query).objects).toBe(101 + 101 + 200);
  expect(sizeOf(query, { m: 7, ids: ['a', 'b'], deep: false }).objects).toBe(51 + 8 + 2);
  expect(sizeOf(query, { n: 3, m: 7, ids: ['a', 'b'], deep: true }).objects).toBe(4 + 8 + 4);
});

test('fragments that spread each other are sized in no time, however many objects that makes', () => {
  const fragments = Array.from(
    { length: 40 },
    (_, at) =>
      `fragment F${at} on Project { ${['a', 'b', 'c'].map((name) => `${name}: events { nodes { project { ...F${at + 1} } } }`).join(' ')} }`,
  );
  const query = `{ project(id: 1) { ...F0 } } ${fragments.join(' ')} fragment F40 on Project { id }`;
  expect(sizeOf(query).objects).toBe(Number.MAX_SAFE_INTEGER);
});

test('every list of objects in the schema is bounded by an argument', () => {
  const query = `{ project(id: 1) { dashboards { nodes { id } edges { node { id } } } events { nodes { id } }
    organization { plugins { nodes { id } } unusedPlugins { id } pluginRepository { name } } } nodes(ids: []) { id } }`;
  expect(sizeOf(query).objects).toBeLessThan(1000);
});
