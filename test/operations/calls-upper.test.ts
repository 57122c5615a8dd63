import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { createExecute } from '../../src/operation/execute.ts';
import { coercedVariables } from '../../src/operation/params.ts';
import { createCompilerSchema, createSchema } from '../../src/schema.ts';
import { contextOf, operationIn, Upstream } from '../property/upstream.ts';
import { startBoth } from '../support/both.ts';
import { rowsOf } from '../support/connections.ts';
import { listOf } from '../support/lists.ts';
import { cursors, planOf } from '../support/plans.ts';
import { dashboard, listedDashboard, listedProject, project } from '../support/rows.ts';

// Plans say how many calls an operation may make. Here it makes just as many: answers come when it costs most.

test('a shorter window of a list that was read before a longer one was wanted is a call of its own', async () => {
  const query = `{ project(id: 1) {
    dashboard(id: 101) { useDashboard { project { dashboards(first: 3) { nodes { id } } } } }
    primaryDashboard { project { dashboards(first: 5) { nodes { id } } } }
  } }`;
  const listed = Promise.withResolvers<void>();
  const page = listOf(rowsOf(9, listedDashboard));
  const { upstream, gateway } = await startBoth(
    {
      'GET /api/projects/1/': () => listed.promise.then(() => project(1, { primary_dashboard: 102 })),
      'GET /api/projects/1/dashboards/101/': dashboard(101, { use_dashboard: 103 }),
      'GET /api/projects/1/dashboards/': (request) => {
        listed.resolve();
        return typeof page === 'function' ? page(request) : page;
      },
    },
    {},
    { hold: 1 },
  );
  const { errors } = await gateway.ask(query);
  expect(errors).toBeUndefined();
  expect(upstream.requests.toSorted()).toEqual([
    'GET /api/projects/1/',
    'GET /api/projects/1/dashboards/101/',
    'GET /api/projects/1/dashboards/?limit=3',
    'GET /api/projects/1/dashboards/?limit=5',
  ]);
  expect(planOf(query).upper).toBe(upstream.requests.length);
});

test('rows that are wanted at one time cost a page of their list, too, if it does not hold them', async () => {
  const [one, other] = ['101', '102'].map((id) => toGlobalId({ type: 'Dashboard', scope: '1', id }));
  const query = `{
    a: node(id: "${one}") { ... on Dashboard { useDashboard { name } } }
    b: node(id: "${other}") { ... on Dashboard { useDashboard { name } } }
    projects(first: 1) { nodes { dashboard(id: 120) { name } } }
  }`;
  const calls = await callsInStep(query, (target) => {
    if (target === '/api/projects/?limit=1') return { count: 1, next: null, results: [listedProject(1)] };
    const id = Number(/\/dashboards\/(\d+)\/$/.exec(target)?.[1]);
    return Number.isNaN(id) ? { count: 0, next: null, results: [] } : dashboard(id, { use_dashboard: id + 100 });
  });
  expect(calls.toSorted()).toEqual([
    '/api/projects/1/dashboards/101/',
    '/api/projects/1/dashboards/102/',
    '/api/projects/1/dashboards/120/',
    '/api/projects/1/dashboards/201/',
    '/api/projects/1/dashboards/202/',
    '/api/projects/1/dashboards/?limit=100',
    '/api/projects/?limit=1',
  ]);
  expect(planOf(query).upper).toBe(calls.length);
});

/** The calls of an operation whose upstream answers all that was asked for by then in one turn of the event loop. */
async function callsInStep(query: string, answer: (target: string) => unknown): Promise<readonly string[]> {
  const upstream = new Upstream({ lists: new Map(), answer }, 'in step', Math.random);
  const document = parse(query);
  const operation = operationIn(document);
  const schemas = { schema: createSchema(), compilerSchema: createCompilerSchema() };
  const options = { schemas, introspection: true };
  const execute = createExecute(options, document, operation, 'at once');
  const context = contextOf(upstream.client, cursors, 100);
  const { errors } = await execute(context, coercedVariables(options, operation));
  expect(errors).toBeUndefined();
  return upstream.calls;
}
