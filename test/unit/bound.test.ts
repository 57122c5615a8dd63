import { Kind, parse } from 'graphql';
import { expect, test } from 'vitest';
import { fragmentsOf } from '../../src/look-ahead/selection-tree.ts';
import { answerSizeOf } from '../../src/plan/answer-size.ts';
import { boundOf } from '../../src/plan/bound.ts';
import { createSchema } from '../../src/schema.ts';
import { cursors, planOf } from '../support/plans.ts';

const schema = createSchema();
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

test.each(operations)('no plan exceeds the bound of its operation: %s', (_name, query, variables) => {
  const document = parse(query);
  const operation = document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('no operation');
  const bound = boundOf({ schema, fragments: fragmentsOf(document), operation, maxPageSize: 100 });
  const plan = planOf(query, variables);
  expect(plan.upper).toBeLessThanOrEqual(bound.calls);
  expect(plan.rows).toBeLessThanOrEqual(bound.rows);
});

test('fragments that spread fragments, and fields that stand twice, are bounded once', () => {
  // Each level doubles what is executed: nothing that follows all of it would come to an end.
  const levels = Array.from(
    { length: 60 },
    (_, at) => `fragment F${at} on Project { primaryDashboard { project { ...F${at + 1} } } primaryDashboard { id }
      event(id: 1) { project { ...F${at + 1} } } event(id: 1) { id } }`,
  );
  const document = parse(`{ project(id: 1) { ...F0 } } ${levels.join(' ')} fragment F60 on Project { name }`);
  const operation = document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('no operation');
  const request = { schema, fragments: fragmentsOf(document), operation, maxPageSize: 100 };
  expect(boundOf(request).calls).toBeGreaterThan(2 ** 60);
  expect(answerSizeOf({ ...request, variableValues: undefined }).objects).toBe(Number.MAX_SAFE_INTEGER);
});
