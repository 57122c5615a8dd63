import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { type Estimate, estimateOf } from '../../src/plan/estimate.ts';
import { cursors, planOf, requestOf } from '../support/plans.ts';

function estimated(query: string, coerced?: Record<string, unknown>): Estimate {
  const request = requestOf(query, coerced);
  expect(validate(request.schema, parse(query))).toEqual([]);
  return estimateOf(request);
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
  expect(estimated(query).objects).toBe(objects);
  expect(estimated(query, {}).objects).toBe(objects);
});

test('rows that refer to each other multiply, and the fullest place is named', () => {
  const query =
    '{ project(id: 1) { events(first: 100) { nodes { project { events(first: 100) { nodes { event } } } } } } }';
  expect(estimated(query)).toMatchObject({
    objects: 2 + 100 * (1 + 1 + 1 + 100),
    fullest: { path: 'project.events.nodes.project.events.nodes', objects: 10_000 },
    introspects: false,
  });
});

test('without variables a size is that of the largest, with them it is exact', () => {
  const query = `query ($n: Int, $m: Int = 7, $ids: [ID!]!, $deep: Boolean!) {
    a: projects(first: $n) { nodes { id } }
    b: projects(last: $m) { nodes { id } }
    nodes(ids: $ids) { id ... @include(if: $deep) { ... on Dashboard { project { id } } } }
  }`;
  expect(estimated(query).objects).toBe(101 + 101 + 200);
  expect(estimated(query, { m: 7, ids: ['a', 'b'], deep: false }).objects).toBe(51 + 8 + 2);
  expect(estimated(query, { n: 3, m: 7, ids: ['a', 'b'], deep: true }).objects).toBe(4 + 8 + 4);
});

test('fragments that spread each other are sized in no time, however many objects that makes', () => {
  const fragments = Array.from(
    { length: 40 },
    (_, at) =>
      `fragment F${at} on Project { ${['a', 'b', 'c'].map((name) => `${name}: events { nodes { project { ...F${at + 1} } } }`).join(' ')} }`,
  );
  const query = `{ project(id: 1) { ...F0 } } ${fragments.join(' ')} fragment F40 on Project { id }`;
  expect(estimated(query).objects).toBe(Number.MAX_SAFE_INTEGER);
});

test('every list of objects in the schema is bounded by an argument', () => {
  const query = `{ project(id: 1) { dashboards { nodes { id } edges { node { id } } } events { nodes { id } }
    organization { plugins { nodes { id } } unusedPlugins { id } pluginRepository { name } } } nodes(ids: []) { id } }`;
  expect(estimated(query).objects).toBeLessThan(1000);
});

const ninetyNine = cursors.encode({ noun: 'Project', scope: '' }, { offset: 99 });

/** Each row: an operation, and variables with which its plan must not exceed its bound. */
const operations: readonly (readonly [name: string, query: string, variables: Record<string, unknown>])[] = [
  [
    'small windows far apart, which one page of their list takes in',
    `{ a: projects(first: 1) { nodes { id } } b: projects(first: 1, after: "${ninetyNine}") { nodes { id } } }`,
    {},
  ],
  [
    'small windows far apart, by a variable',
    `query ($behind: String) {
       a: projects(first: 1) { nodes { id } } b: projects(first: 1, after: $behind) { nodes { id } }
     }`,
    { behind: ninetyNine },
  ],
  [
    'the last rows before a cursor',
    `{ a: projects(first: 1) { nodes { id } } b: projects(last: 1, before: "${ninetyNine}") { nodes { id } } }`,
    {},
  ],
  [
    'sizes by variables, and detail columns of each row',
    `query ($first: Int, $last: Int) {
       projects(first: $first) { nodes { createdAt dashboards(last: $last) { nodes { filters } } } }
     }`,
    { first: 20, last: 100 },
  ],
  [
    'rows by id that a page of their list may stand in for',
    '{ a: project(id: 1) { name } b: project(id: 2) { name } c: project(id: 3) { id } d: project(id: "@current") { id } }',
    {},
  ],
  [
    'what @current stands for, beside ids and plugins',
    '{ organization(id: "@current") { id upstreamId plugins(first: 2) { nodes { id organization { id } } } } }',
    {},
  ],
  [
    'what @current stands for, by a variable and alone',
    'query ($id: ID!) { a: organization(id: $id) { id } b: organization(id: $id) { upstreamId } }',
    { id: '@current' },
  ],
  [
    'ids below @current, of the last rows of lists and of what they refer to',
    `{ project(id: "@current") {
         dashboards(last: 3) { nodes { id useDashboard { id project { id } } } } events(first: 1) { nodes { id } }
       } }`,
    {},
  ],
  [
    'one answer under two fields of the document',
    '{ projects(first: 3) { nodes { name } } ... on Query { projects(first: 3) { nodes { createdAt } totalCount } } }',
    {},
  ],
];

test.each(operations)('no plan exceeds the estimate of its operation: %s', (_name, query, variables) => {
  const estimate = estimated(query);
  const plan = planOf(query, variables);
  expect(plan.upper).toBeLessThanOrEqual(estimate.calls);
  expect(plan.rows).toBeLessThanOrEqual(estimate.rows);
});

test('fragments that spread fragments, and fields that stand twice, are estimated once', () => {
  // Each level doubles what is executed: nothing that follows all of it would come to an end.
  const levels = Array.from(
    { length: 60 },
    (_, at) => `fragment F${at} on Project { primaryDashboard { project { ...F${at + 1} } } primaryDashboard { id }
      event(id: 1) { project { ...F${at + 1} } } event(id: 1) { id } }`,
  );
  const query = `{ project(id: 1) { ...F0 } } ${levels.join(' ')} fragment F60 on Project { name }`;
  const { calls, objects } = estimated(query);
  expect(calls).toBeGreaterThan(2 ** 60);
  expect(objects).toBe(Number.MAX_SAFE_INTEGER);
});
