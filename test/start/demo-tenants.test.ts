import { expect, test } from 'vitest';
import { examples, explainExample } from '../../src/http/graphiql/examples.ts';
import { textAt } from '../support/connections.ts';
import { ask } from '../support/gateway.ts';
import { runMain } from '../support/process.ts';

test('the users of a demonstration have a token each, and reach what they are said to', {
  timeout: 60_000,
}, async () => {
  await using running = runMain(['--demo-tenants'], { PORT: '0', WORKSPACE_PORT: '0', LOG_LEVEL: 'warn' });
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  const [, tokenUrl = ''] = await running.printed(/^Tokens +([^?]+)\?/m);
  await running.printed(/^Tenant south[^\n]*\ncurl [^\n]+\n/m);
  const [north = '', viewer = '', south = ''] = [...running.output().matchAll(/Bearer (eyJ[\w.-]+)/g)].map(
    ([, token]) => token,
  );
  const query = '{ projects { totalCount nodes { upstreamId } } project(id: 3) { upstreamId } }';
  const as = async (token: string): Promise<unknown> =>
    (await ask(url, query, { headers: { authorization: `Bearer ${token}` } })).data;
  expect(await as(north)).toEqual({
    projects: { totalCount: 2, nodes: [{ upstreamId: '1' }, { upstreamId: '2' }] },
    project: null,
  });
  expect(await as(south)).toEqual({
    projects: { totalCount: 1, nodes: [{ upstreamId: '3' }] },
    project: { upstreamId: '3' },
  });
  expect(await as(viewer)).toEqual(await as(north));
  const create = async (token: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}` };
    const mutation = 'mutation { createDashboard(input: { projectId: 1, name: "Mine" }) { dashboard { name } } }';
    return (await ask(url, mutation, { headers })).data;
  };
  expect(await create(north)).toEqual({ createDashboard: { dashboard: { name: 'Mine' } } });
  expect(await create(viewer)).toEqual({ createDashboard: null });
  const owner: unknown = await (await fetch(`${tokenUrl}?tenant=north&role=owner`)).json();
  expect((await ask(url, query, { headers: { authorization: `Bearer ${textAt(owner, 'token')}` } })).status).toBe(403);
  const another: unknown = await (await fetch(`${tokenUrl}?tenant=south&sub=ida`)).json();
  expect(await as(textAt(another, 'token'))).toMatchObject({ project: { upstreamId: '3' } });
  expect((await fetch(`${tokenUrl}?tenant=west`)).status).toBe(404);
  expect((await fetch(tokenUrl.replace('/token', '//'))).status).toBe(404);
  expect((await ask(url, query)).status).toBe(401);
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  expect(page).toContain('<label>Token <input id="key" type="password"');
  expect(page).toContain(north);
});

test('tenants of a demonstration are those of the embedded workspace alone', async () => {
  await using running = runMain(['--demo-tenants'], { UPSTREAM_URL: 'http://127.0.0.1:1' });
  expect(await running.exit()).toBe(2);
  expect(running.output()).toContain(
    '--demo-tenants: expected the embedded workspace, but UPSTREAM_URL names another upstream',
  );
});

test('the comments of GraphiQL promise no number of calls, which is another for each tenant', () => {
  const comments = [...examples, explainExample].flatMap(({ query }) => query.match(/#.*/g) ?? []);
  expect(comments.length).toBeGreaterThan(5);
  expect(comments.filter((comment) => /\d/.test(comment))).toEqual([]);
});
