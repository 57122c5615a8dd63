import { expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { startBoth } from '../support/both.ts';
import { rowsOf } from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { eventsOf, listOf } from '../support/lists.ts';
import { codesOf } from '../support/load.ts';
import { createFolder, send } from '../support/persisted.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, event, listedDashboard, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const text = 'é"'.repeat(1000);
const routes: Routes = {
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id']), { name: text }),
  'GET /api/projects/:id/events/': eventsOf(rowsOf(50, event)),
  'GET /api/projects/:id/dashboards/': listOf(rowsOf(50, listedDashboard)),
  'PATCH /api/projects/:id/dashboards/:dashboard/': ({ params }) => dashboard(Number(params['dashboard'])),
};
const id = toGlobalId({ type: 'Project', scope: '', id: '1' });

function aliases(count: number, column: string): string {
  return `{ ${Array.from({ length: count }, (_, at) => `a${at}: node(id: "${id}") { ... on Project { ${column} filters: extraSettings } }`).join(' ')} }`;
}

test('data of more bytes than it may have is dropped, and one error says why', async () => {
  const { upstream, gateway } = await startBoth(routes, { maxAnswerBytes: 20_000, explain: true });
  const answer = await gateway.ask(aliases(5, 'name'), { extensions: { cost: true } });
  const { status, errors, extensions } = answer;
  expect(status).toBe(200);
  expect(answer.data).toBeNull();
  expect(errors?.map(({ extensions: facts }) => facts)).toMatchObject([{ code: 'COST_LIMIT_EXCEEDED', limit: 20_000 }]);
  expect(errors?.[0]?.message).toContain('but the limit is 20000');
  expect(errors?.[0]?.extensions['bytes']).toBeGreaterThan(20_000);
  expect(extensions).toEqual({ cost: { requested: 1, actual: 1, limit: 150 } });
  expect(upstream.requests).toHaveLength(1);
  expect(gateway.reported).toEqual([]);
});

test('a row that an operation names again and again counts each time', async () => {
  const { upstream, gateway } = await startBoth(routes, { maxAnswerBytes: 100_000 });
  const ids = JSON.stringify(Array.from({ length: 50 }, () => id));
  const answer = await gateway.ask(`{ nodes(ids: ${ids}) { ... on Project { name } } }`);
  expect(answer.data).toBeNull();
  expect(codesOf(answer)).toEqual(['COST_LIMIT_EXCEEDED']);
  expect(upstream.requests).toHaveLength(1);
});

test('what is answered counts, not what was read', async () => {
  const { gateway } = await startBoth(routes, { maxAnswerBytes: 20_000 });
  const { errors, body } = await gateway.ask(aliases(5, 'id'));
  expect(errors).toBeUndefined();
  expect(body.length).toBeLessThan(2000);
});

test('the limit is exact', async () => {
  await using upstream = await startUpstream(routes);
  const query = aliases(3, 'name timezone');
  await using generous = await startGateway(upstream);
  const { body } = await generous.ask(query);
  const bytes = Buffer.byteLength(body) - '{"data":}'.length;
  await using enough = await startGateway(upstream, { maxAnswerBytes: bytes + 20 });
  expect((await enough.ask(query)).errors).toBeUndefined();
  await using tooFew = await startGateway(upstream, { maxAnswerBytes: bytes - 1 });
  expect((await tooFew.ask(query)).errors).toHaveLength(1);
});

test('an operation whose structure alone has too many bytes ends while it is made, with no further call', async () => {
  const { upstream, gateway } = await startBoth(routes, { maxAnswerBytes: 10_000 });
  const long = 'a'.repeat(300);
  const query = `{ project(id: 1) { events(first: 50) { nodes { ${long}: event } } dashboards { nodes { project { organization { name } } } } } }`;
  const answer = await gateway.ask(query);
  expect(answer.data).toBeNull();
  expect(answer.errors?.map(({ extensions }) => extensions)).toMatchObject([
    { code: 'COST_LIMIT_EXCEEDED', limit: 10_000, path: 'project.events.nodes' },
  ]);
  expect(upstream.requests.filter((request) => request.includes('/plugins/'))).toEqual([]);
});

test('a mutation whose answer is too large answers what it did, and drops what is below it', async () => {
  const { gateway } = await startBoth(routes, { maxAnswerBytes: 10_000 });
  const input = (dashboardId: number): string => `(input: { id: ${dashboardId}, projectId: 1 })`;
  const query = `mutation {
    first: deleteDashboard${input(1)} { deletedId dashboard { upstreamId name project { ${Array.from({ length: 5 }, (_, at) => `n${at}: name`).join(' ')} } } }
    second: deleteDashboard${input(2)} { dashboard { upstreamId } }
  }`;
  const answer = await gateway.ask(query);
  expect(answer.status).toBe(200);
  expect(answer.data).toEqual({
    first: {
      deletedId: toGlobalId({ type: 'Dashboard', scope: '1', id: '1' }),
      dashboard: { upstreamId: '1', name: 'Dashboard 1', project: null },
    },
    second: { dashboard: { upstreamId: '2' } },
  });
  expect(codesOf(answer)).toEqual(['COST_LIMIT_EXCEEDED']);
});

test('a long text of the changed object is dropped with the rest', async () => {
  const patch = 'PATCH /api/projects/:id/dashboards/:dashboard/';
  const changed = { ...routes, [patch]: dashboard(1, { description: 'd'.repeat(20_000) }) };
  const { gateway } = await startBoth(changed, { maxAnswerBytes: 10_000 });
  const input = '(input: { id: 1, projectId: 1 })';
  const answer = await gateway.ask(`mutation { deleteDashboard${input} { dashboard { name description } } }`);
  expect(answer.data).toEqual({ deleteDashboard: { dashboard: { name: 'Dashboard 1', description: null } } });
});

test('mutations after the one that exceeded a limit are not sent, and say so', async () => {
  const { upstream, gateway } = await startBoth(routes, { maxAnswerBytes: 10_000 });
  const long = 'a'.repeat(300);
  const query = `mutation {
    first: deleteDashboard(input: { id: 1, projectId: 1 }) { dashboard { upstreamId project { events { nodes { ${long}: event } } } } }
    second: deleteDashboard(input: { id: 2, projectId: 1 }) { dashboard { upstreamId } }
  }`;
  const answer = await gateway.ask(query);
  expect(answer.data).toEqual({ first: { dashboard: { upstreamId: '1', project: null } }, second: null });
  expect(answer.errors?.map(({ path, extensions }) => [path, extensions['code']])).toEqual([
    [['second'], 'COST_LIMIT_EXCEEDED'],
    [undefined, 'COST_LIMIT_EXCEEDED'],
  ]);
  expect(upstream.requests.filter((request) => request.startsWith('PATCH'))).toHaveLength(1);
});

test('listed documents are held to the limit of bytes, too', async () => {
  using folder = createFolder();
  const files = folder.write('listed.json', { wide: aliases(5, 'name') });
  const { gateway } = await startBoth(routes, { maxAnswerBytes: 20_000, persisted: { files } });
  const { errors } = await send(gateway.url, { documentId: 'wide' });
  expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['COST_LIMIT_EXCEEDED']);
});
