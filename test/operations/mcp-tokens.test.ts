import { describe, expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { askMcp, callTool, mcpUrlOf, publicUrl, sentencesOf, startTenantAgents } from '../support/agents.ts';
import { startOver } from '../support/both.ts';
import { listOf } from '../support/lists.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, project } from '../support/rows.ts';
import { type Entries } from '../support/tenants.ts';
import { audience } from '../support/tokens.ts';

const documents = `
query Projects { projects(first: 10) { nodes { name } } }
query Project($id: ID!) { project(id: $id) { name } }
mutation Copy($input: CreateDashboardInput!) { createDashboard(input: $input) { dashboard { name } } }
mutation Rename($id: ID!, $name: String!) { updateProject(input: { id: $id, name: $name }) { project { name } } }
`;

const entries = {
  acme: { key: 'phx_acme', mutations: ['updateProject'] },
  narrow: { key: 'phx_acme', projects: ['2'] },
};

const routes: Routes = {
  'GET /api/projects/': listOf([1, 2].map((id) => project(id))),
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
};

/** Starts a gateway that serves agents of these tenants, over an upstream with `routes` and `others`. */
function start(options: Parameters<typeof startTenantAgents>[3] = {}, given: Entries = entries, others: Routes = {}) {
  return startOver({ ...routes, ...others }, (api) => startTenantAgents(api, documents, given, options), { hold: 0 });
}

const nowhere = { url: 'http://127.0.0.1:1' };
const agentAudience = `${publicUrl}/mcp`;
const metadataUrl = 'https://gateway.test/.well-known/oauth-protected-resource/base/mcp';

describe('With tokens', () => {
  test('a request without one is refused with the place of the metadata', async () => {
    await using gateway = await startTenantAgents(nowhere, documents, entries);
    const { status, headers, text } = await askMcp(gateway, 'tools/list', {}, { asKey: null });
    expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer resource_metadata="${metadataUrl}"`]);
    expect(JSON.parse(text)).toEqual({ error: 'unauthenticated', error_description: expect.any(String) as unknown });
    const invalid = await askMcp(gateway, 'initialize', {}, { asKey: 'a.b.c' });
    expect([invalid.status, invalid.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer error="invalid_token", resource_metadata="${metadataUrl}"`,
    ]);
  });

  test.each(['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource/base/mcp'])(
    'the metadata is at %s for everyone',
    async (path) => {
      await using gateway = await startTenantAgents(nowhere, documents, entries);
      const response = await fetch(new URL(path, gateway.url));
      expect([response.status, await response.json()]).toEqual([
        200,
        {
          resource: agentAudience,
          authorization_servers: ['https://issuer.test/'],
          bearer_methods_supported: ['header'],
        },
      ]);
      expect((await fetch(new URL(path, gateway.url), { method: 'POST' })).status).toBe(405);
      const preflight = await fetch(new URL(path, gateway.url), { method: 'OPTIONS' });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version');
    },
  );

  test.each<[string, unknown, number, number]>([
    ['that of the gateway', audience, 200, 200],
    ['that of agents', agentAudience, 401, 200],
    ['both', [agentAudience, audience], 200, 200],
    ['that of agents in a list', [agentAudience], 401, 200],
    ['another one', 'other', 401, 401],
    ['a longer one', `${agentAudience}/x`, 401, 401],
  ])('a token whose audience is %s is answered so at /graphql and at /mcp', async (_what, aud, atGraphql, atMcp) => {
    const { gateway } = await start({ persisted: { mode: 'allow' }, tools: [] });
    const headers = await gateway.headersOf('acme', { claims: { aud } });
    // Either way round: what one endpoint has learned of a token does not open the other.
    expect((await askMcp(gateway, 'tools/list', {}, { headers })).status).toBe(atMcp);
    expect((await gateway.ask('{ projects { nodes { name } } }', { headers })).status).toBe(atGraphql);
    expect((await askMcp(gateway, 'tools/list', {}, { headers })).status).toBe(atMcp);
  });

  test('the list has what the tenant may run, and is for its caller alone', async () => {
    await using gateway = await startTenantAgents(nowhere, documents, entries, { tools: ['*', 'Rename'] });
    const namesFor = async (tenant: string): Promise<readonly string[]> => {
      const { body } = await askMcp(gateway, 'tools/list', {}, { headers: await gateway.headersOf(tenant) });
      expect(body.result).toMatchObject({ cacheScope: 'private' });
      return body.result.tools.map(({ name, _meta: { restCalls } }) => `${name} ${restCalls.lower}-${restCalls.upper}`);
    };
    expect(await namesFor('acme')).toEqual(['Project 1-1', 'Projects 1-1', 'Rename 1-1']);
    expect(await namesFor('narrow')).toEqual(['Project 0-1', 'Projects 1-1']);
    const headers = await gateway.headersOf('narrow');
    const { body } = await askMcp(gateway, 'tools/call', { name: 'Rename', arguments: {} }, { headers });
    expect(body.error).toMatchObject({ code: -32_602, message: 'Unknown tool: Rename' });
  });

  test('a tool is used with the key of the tenant, within its reach, and no token is passed on', async () => {
    const { upstream, gateway } = await start();
    const headers = await gateway.headersOf('narrow', { claims: { aud: agentAudience } });
    expect(await callTool(gateway, 'Project', { id: '2' }, { headers })).toMatchObject({
      structuredContent: { project: { name: 'Project 2' } },
    });
    const outside = await callTool(gateway, 'Project', { id: '1' }, { headers });
    expect(outside).toMatchObject({ structuredContent: { project: null }, _meta: { restCalls: { actual: 0 } } });
    expect(upstream.records.map(({ headers: sent }) => sent.authorization)).toEqual(['Bearer phx_acme']);
  });

  test('the cost has the reads of what a tenant with limited reach names in an input', async () => {
    const routesOfCopies = {
      'GET /api/projects/2/dashboards/1/': dashboard(1),
      'POST /api/projects/2/dashboards/': dashboard(2),
    };
    const copiers = {
      all: { key: 'phx_acme', mutations: ['createDashboard'] },
      narrow: { key: 'phx_acme', projects: ['2'], mutations: ['createDashboard'] },
    };
    const { gateway } = await start({ tools: ['Copy'] }, copiers, routesOfCopies);
    const costFor = async (tenant: string): Promise<unknown> => {
      const { body } = await askMcp(gateway, 'tools/list', {}, { headers: await gateway.headersOf(tenant) });
      return body.result.tools.map(({ _meta: { restCalls } }) => [restCalls.lower, restCalls.upper]);
    };
    expect([await costFor('all'), await costFor('narrow')]).toEqual([[[1, 1]], [[1, 2]]]);
    const useDashboardId = toGlobalId({ type: 'Dashboard', scope: '2', id: '1' });
    const headers = await gateway.headersOf('narrow');
    const copied = await callTool(gateway, 'Copy', { input: { projectId: '2', useDashboardId } }, { headers });
    expect(copied).toMatchObject({ _meta: { restCalls: { actual: 2 } } });
  });

  test('a tenant without an entry is refused with 403', async () => {
    await using gateway = await startTenantAgents(nowhere, documents, entries);
    const { status, text } = await askMcp(gateway, 'tools/list', {}, { headers: await gateway.headersOf('other') });
    expect([status, text]).toEqual([403, expect.stringContaining('"error":"forbidden"')]);
  });

  test('pages of other origins may read the challenge', async () => {
    const corsOrigins = ['https://app.example'];
    await using gateway = await startTenantAgents(nowhere, documents, entries, { corsOrigins });
    const response = await fetch(mcpUrlOf(gateway), {
      method: 'POST',
      headers: { origin: 'https://app.example', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.headers.get('access-control-expose-headers')).toContain('www-authenticate');
  });
});

test('what is wrong is a sentence, also for a tenant', async () => {
  await using gateway = await startTenantAgents(nowhere, documents, entries);
  const headers = await gateway.headersOf('acme');
  expect(sentencesOf(await callTool(gateway, 'Project', { id: 'x' }, { headers }))).toContain('Expected `id` to be');
});
