import { describe, expect, test } from 'vitest';
import { isObject, type JsonObject } from '../../src/rest/values.ts';
import { startBoth } from '../support/both.ts';
import { rowsOf } from '../support/connections.ts';
import { type Answer, startGateway, type TestGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { quick } from '../support/live.ts';
import { accepts, askForParts } from '../support/parts.ts';
import { createFolder, outcomeOf, send } from '../support/persisted.ts';
import { notFound, reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, listedDashboard, project } from '../support/rows.ts';

const workspace: Routes = {
  'GET /api/projects/1/': project(1),
  'GET /api/projects/1/dashboards/': listOf(rowsOf(2, listedDashboard)),
  'GET /api/projects/1/dashboards/:id/': ({ params }) => dashboard(Number(params['id'])),
  'PATCH /api/projects/1/': project(1),
};

const query = '{ project(id: 1) { name dashboards(first: 2) { nodes { tiles } } } }';

function tracedCalls({ extensions }: Answer): readonly JsonObject[] {
  const trace = extensions?.['explain'];
  const calls = isObject(trace) ? trace['calls'] : undefined;
  return Array.isArray(calls) ? calls.filter(isObject) : [];
}

describe('The extension explain', () => {
  test('"plan" answers the plan and executes nothing, whatever it would cost, even without a key', async () => {
    const { upstream, gateway } = await startBoth(workspace, { explain: true, maxUpstreamCalls: 3 });
    const answer = await gateway.ask(query, { extensions: { explain: 'plan' }, headers: { authorization: '' } });
    const dashboards = '/api/projects/{project_id}/dashboards/';
    const planned = [
      {
        operation: 'getProject',
        path: '/api/projects/{id}/',
        lower: 1,
        upper: 1,
        rows: 1,
        wave: 1,
        paths: ['project'],
      },
      {
        ...{ operation: 'listDashboards', path: dashboards, lower: 1, upper: 1, rows: 2, wave: 1 },
        paths: ['project.dashboards'],
      },
      {
        ...{ operation: 'getDashboard', path: `${dashboards}{id}/`, lower: 0, upper: 2, rows: 2, wave: 2 },
        paths: ['project.dashboards.nodes'],
      },
    ];
    expect(JSON.parse(answer.body)).toEqual({
      data: null,
      extensions: {
        explain: {
          calls: planned.map((call) => ({ ...call, method: 'GET' })),
          lower: 2,
          upper: 4,
          rows: 5,
          objects: 4,
          waves: 2,
          hints: [
            '`tiles` of project.dashboards.nodes is in the detail view only: up to 2 calls',
            'put `@defer` on what project.dashboards.nodes needs in wave 2, and a first part is sent after wave 1',
          ],
        },
      },
    });
    expect(answer.status).toBe(200);
    expect(upstream.requests).toEqual([]);
  });

  test('"plan" of variables that do not fit says so, of a subscription too, and suggests nothing of a hidden schema', async () => {
    const { upstream, gateway } = await startBoth({}, { explain: true, live: quick });
    await using silent = await startGateway(upstream, { explain: true, introspection: false });
    const plan = { extensions: { explain: 'plan' } };
    const tail = 'subscription ($id: ID!) { eventsAdded(projectId: $id) { cursor } }';
    for (const text of [tail, 'query ($id: ID!) { project(id: $id) { name } }']) {
      const message: unknown = expect.stringContaining('"$id"');
      expect((await gateway.ask(text, plan)).errors).toMatchObject([
        { message, extensions: { code: 'BAD_USER_INPUT' } },
      ]);
      expect((await gateway.ask(text, { ...plan, variables: { id: 1 } })).extensions).toMatchObject({
        explain: { upper: 1 },
      });
    }
    const filtered = 'query ($f: EventFilter) { project(id: 1) { events(filter: $f) { nodes { event } } } }';
    const suggesting = async (one: TestGateway): Promise<boolean> =>
      (await one.ask(filtered, { ...plan, variables: { f: { evnt: 1 } } })).body.includes('Did you mean');
    expect([await suggesting(gateway), await suggesting(silent)]).toEqual([true, false]);
    expect(upstream.requests).toEqual([]);
  });

  test('"trace" executes, and lists each call that was made', async () => {
    const { gateway } = await startBoth(workspace, { explain: true });
    const answer = await gateway.ask(query, { extensions: { explain: 'trace', cost: true } });
    expect(answer).toMatchObject({
      data: { project: { name: 'Project 1', dashboards: { nodes: [{}, {}] } } },
      extensions: { cost: { requested: 4, actual: 4, limit: 150 } },
    });
    const calls = tracedCalls(answer);
    const lines = calls.map(({ method, path, status, wave, shared }) =>
      [wave, method, path, status, shared === true ? 'shared' : 'own'].join(' '),
    );
    expect(lines.toSorted()).toEqual([
      '1 GET /api/projects/1/ 200 own',
      '1 GET /api/projects/1/dashboards/?limit=2 200 own',
      '2 GET /api/projects/1/dashboards/1/ 200 own',
      '2 GET /api/projects/1/dashboards/2/ 200 own',
    ]);
    expect(calls.every(({ milliseconds }) => typeof milliseconds === 'number' && milliseconds >= 0)).toBe(true);
  });

  test('"trace" shows the status of calls that failed, of writes and of calls that another operation made', async () => {
    const { upstream, gateway } = await startBoth(
      { ...workspace, 'GET /api/projects/2/': notFound },
      { explain: true },
      { hold: 2 },
    );
    const traced = { extensions: { explain: 'trace' } };
    const [first, second, other] = await Promise.all([
      gateway.ask('{ project(id: 2) { name } }', traced),
      gateway.ask('{ project(id: 2) { name } }', traced),
      gateway.ask('{ project(id: 1) { name } }', traced),
    ]);
    const calls = [first, second, other].flatMap(tracedCalls);
    expect(calls).toMatchObject([
      { path: '/api/projects/2/', status: 404, wave: 1, shared: false },
      { path: '/api/projects/2/', status: 404, wave: 1, shared: true },
      { path: '/api/projects/1/', status: 200, wave: 1, shared: false },
    ]);
    upstream.release();
    const written = await gateway.ask(
      'mutation { updateProject(input: { id: 1, name: "x" }) { project { name } } }',
      traced,
    );
    expect(written.extensions?.['explain']).toMatchObject({
      calls: [{ method: 'PATCH', path: '/api/projects/1/', status: 200 }],
    });
  });

  test('"trace" shows a retry in the wave of the call that failed, with the reason', async () => {
    let failures = 0;
    const { gateway } = await startBoth(
      {
        'GET /api/projects/1/': () => ((failures += 1) === 1 ? reply({ status: 503 }) : project(1)),
      },
      { explain: true },
    );
    const answer = await gateway.ask('{ project(id: 1) { name } }', { extensions: { explain: 'trace' } });
    const call = { method: 'GET', path: '/api/projects/1/', wave: 1, shared: false };
    const milliseconds: unknown = expect.any(Number);
    expect(tracedCalls(answer)).toEqual([
      { ...call, status: 503, milliseconds },
      { ...call, status: 200, milliseconds, retryOf: '503' },
    ]);
  });

  test('"trace" lists no call if the variables do not fit, of a query with @defer too', async () => {
    const { gateway } = await startBoth({}, { explain: true });
    const deferring = 'query ($id: ID!) { project(id: $id) { id ... @defer { name } } }';
    for (const accept of ['application/json', ...Object.values(accepts)]) {
      const { parts } = await askForParts(gateway.url, deferring, accept, { extensions: { explain: 'trace' } });
      expect((await parts.next()).value).toMatchObject({
        errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
        extensions: { explain: { calls: [] } },
      });
    }
  });

  test('is refused if it is neither, and executes nothing', async () => {
    const { upstream, gateway } = await startBoth(workspace, { explain: true });
    const { errors } = await gateway.ask(query, { extensions: { explain: 'everything' } });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(upstream.requests).toEqual([]);
  });

  test.each(['plan', 'trace', 'everything'])(
    '%j is refused if it is switched off, on every transport, and executes nothing',
    async (explain) => {
      const mutation = 'mutation { deleteProject(input: { id: "1" }) { deletedId } }';
      using folder = createFolder();
      const files = folder.write('manifest.json', { q1: query, m1: mutation });
      const { upstream, gateway } = await startBoth(workspace, { explain: false, persisted: { files } });
      const extensions = { explain };
      const get = { method: 'GET' } as const;
      for (const [params, wire] of [
        [{ query, extensions }, {}],
        [{ query: mutation, extensions }, {}],
        [{ query, extensions }, get],
        [{ documentId: 'q1', extensions }, {}],
        [{ documentId: 'm1', extensions }, {}],
        [{ documentId: 'q1', extensions }, get],
        [{ query, extensions }, { accept: 'application/graphql-response+json' }],
      ] as const) {
        expect(outcomeOf(await send(gateway.url, params, wire))).toEqual([400, 'BAD_USER_INPUT']);
      }
      const streamed = await fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: mutation, extensions }),
      });
      expect(await streamed.text()).toContain('"code":"BAD_USER_INPUT"');
      expect(upstream.requests).toEqual([]);
    },
  );

  test('counts as left out if it is null', async () => {
    const { gateway } = await startBoth(workspace, { explain: false });
    expect(await gateway.ask(query, { extensions: { explain: null } })).toMatchObject({
      data: { project: { name: 'Project 1' } },
    });
  });
});

test('What lies below a relation does not wait for a slow row of its object', async () => {
  const started = Promise.withResolvers<void>();
  const { upstream, gateway } = await startBoth({
    ...workspace,
    'GET /api/projects/1/': async () => {
      await started.promise;
      return project(1);
    },
    'GET /api/projects/1/dashboards/:id/': ({ params }) => {
      started.resolve();
      return dashboard(Number(params['id']));
    },
  });
  const answer = await gateway.ask(query);
  expect(answer.errors).toBeUndefined();
  expect(answer).toMatchObject({ data: { project: { name: 'Project 1', dashboards: { nodes: [{}, {}] } } } });
  expect(upstream.requests).toHaveLength(4);
});
