import { expect, test } from 'vitest';
import { askMcp, callTool, startAgents, startTenantAgents } from '../support/agents.ts';
import { startOver } from '../support/both.ts';
import { cacheSettings } from '../support/cache.ts';
import { inForm, measured } from '../support/form.ts';
import { key } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { together } from '../support/load.ts';
import { disconnect, type Reply, refusal, reply, truncated } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, listedDashboard, project } from '../support/rows.ts';

const documents = `
query Projects($first: Int = 10) { projects(first: $first) { nodes { name } } }
query Project($id: ID!) { project(id: $id) { name dashboards(first: 2) { nodes { name } } } }
query Nodes($ids: [ID!]!) { nodes(ids: $ids) { ... on Project { name } ... on Dashboard { name } } }
`;

/** Names of what belongs to a project begin with its id. */
const routes: Routes = {
  'GET /api/projects/': listOf([1, 2, 3].map((id) => project(id, { name: `${id} project` }))),
  'GET /api/projects/:id/': ({ params: { id } }) => project(Number(id), { name: `${id} project` }),
  'GET /api/projects/:id/dashboards/': (request) =>
    listOf([7, 8].map((at) => listedDashboard(at, { name: `${request.params['id']} dashboard` })))(request),
  'GET /api/projects/:id/dashboards/:at/': ({ params: { id, at } }) =>
    dashboard(Number(at), { name: `${id} dashboard` }),
};

const entries = {
  acme: { key: 'phx_one', projects: ['1'] },
  globex: { key: 'phx_one', projects: ['2', '3'] },
};

const ids = ['1', '2', '3'];
const globalIds = ids.flatMap((id) =>
  [`Project:${id}`, `Dashboard:${id}:7`].map((text) => Buffer.from(text).toString('base64url')),
);

/** `TEST_FORM=whole` makes 5,000 calls. */
const calls = inForm(300, 5000);

test('two tenants that share a key never see what only the other reaches', async () => {
  const { upstream, gateway } = await startOver(
    routes,
    (api) => startTenantAgents(api, documents, entries, { cache: cacheSettings }),
    { hold: 0 },
  );
  const headers = { acme: await gateway.headersOf('acme'), globex: await gateway.headersOf('globex') };
  const seen = { acme: new Set<string>(), globex: new Set<string>() };
  const use = async (at: number): Promise<void> => {
    const tenant = at % 2 === 0 ? 'acme' : 'globex';
    // A fixed order that goes through every pair of tool and id for both.
    const step = Math.floor(at / 2);
    const id = ids[step % 3] ?? '1';
    const uses = [
      ['Projects', { first: 1 + (step % 4) }],
      ['Project', { id }],
      ['Nodes', { ids: globalIds.slice(step % 3, 2 + (step % 5)) }],
    ] as const;
    const [name, values] = uses[Math.floor(step / 3) % 3] ?? uses[0];
    const result = await callTool(gateway, name, values, { headers: headers[tenant] });
    const names = JSON.stringify(result.structuredContent ?? null).matchAll(/"name":"(\d)/g);
    for (const [, owner = ''] of names) seen[tenant].add(owner);
  };
  await together(calls, 20, use);
  expect([...seen.acme].toSorted()).toEqual(['1']);
  expect([...seen.globex].toSorted()).toEqual(['2', '3']);
  expect(gateway.reported).toEqual([]);
  measured('tools of two tenants', { calls, upstream: upstream.requests.length });
});

test.each<[string, Reply]>([
  ['an error', refusal(500, 'server_error', 'secret words')],
  ['that it does not know the key', refusal(401, 'authentication_failed', 'secret words')],
  ['a page', reply({ headers: { 'content-type': 'text/html' }, body: '<b>secret words</b>' })],
  ['half of its body', truncated('{"name":"secret words"}')],
  ['the way to another server', reply({ status: 302, headers: { location: 'http://secret.words.test/' } })],
  ['nothing', disconnect],
])('a result tells no key, host or words of the upstream that answers %s', async (_what, answer) => {
  const { upstream, gateway } = await startOver(
    {
      'GET /api/projects/:id/': answer,
      'GET /api/projects/:id/dashboards/': answer,
    },
    (api) => startAgents(api, documents),
    { hold: 0 },
  );
  const { text } = await askMcp(gateway, 'tools/call', { name: 'Project', arguments: { id: '1' } });
  expect(text).toContain('"isError":true');
  for (const secret of ['secret', key, new URL(upstream.url).host, '/api/']) expect(text).not.toContain(secret);
});
