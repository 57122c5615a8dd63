import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { isObject } from '../../src/rest/values.ts';
import { askMcp, callTool, publicUrl } from '../support/agents.ts';
import { codesOf } from '../support/load.ts';
import { createFolder } from '../support/persisted.ts';
import { askById, documents, routes, startBothListed, startListed } from '../support/roles.ts';
import type { Entries } from '../support/tenants.ts';
import { startUpstream } from '../support/upstream.ts';

describe('A role with documents', () => {
  test('runs those by id or as their text, and nothing else', async () => {
    const { upstream, gateway } = await startBothListed({ persisted: { mode: 'only' }, explain: true });
    const ask = async (more: object): Promise<readonly unknown[]> => {
      const answer = await askById(gateway, 'acme agent', 'overview', more);
      return [answer.status, ...codesOf(answer)];
    };
    expect(await ask({})).toEqual([200]);
    expect(await ask({ documentId: undefined, query: documents.overview })).toEqual([200]);
    expect(await ask({ documentId: undefined, query: `# as a comment\n ${documents.overview}` })).toEqual([200]);
    upstream.reset();
    for (const documentId of ['other', 'unnamed', 'change'])
      expect(await ask({ documentId })).toEqual([403, 'FORBIDDEN']);
    expect(await ask({ documentId: 'other', operationName: 'Other' })).toEqual([403, 'FORBIDDEN']);
    expect(await ask({ documentId: 'other', extensions: { explain: 'plan' } })).toEqual([403, 'FORBIDDEN']);
    expect(await ask({ documentId: undefined, query: '{ __schema { queryType { name } } }' })).toEqual([
      403,
      'FORBIDDEN',
    ]);
    expect(await ask({ documentId: 'overview', operationName: 'Other' })).toEqual([200, 'BAD_USER_INPUT']);
    expect(upstream.requests).toEqual([]);
  });

  test('runs no text of that name that is not listed, where texts run, and not by its hash either', async () => {
    const { upstream, gateway } = await startBothListed();
    const forged = 'query Overview { project(id: 1) { name dashboards { nodes { name } } } }';
    const sha256Hash = createHash('sha256').update(forged).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const [agent, viewer] = ['acme agent', 'acme viewer'];
    expect((await gateway.askAs(agent, forged)).status).toBe(403);
    expect((await gateway.askAs(agent, forged, { extensions })).status).toBe(403);
    expect((await gateway.askAs(viewer, forged, { extensions })).status).toBe(200);
    upstream.reset();
    expect((await gateway.askAs(agent, '', { extensions })).status).toBe(403);
    expect((await gateway.askAs(agent, '{ __typename }')).status).toBe(403);
    expect(upstream.requests).toEqual([]);
    expect((await askById(gateway, agent, 'overview')).status).toBe(200);
  });

  test('counts for no other document: its projects are not reached there', async () => {
    const { gateway } = await startBothListed();
    const ofOther = await askById(gateway, 'acme agent local', 'other');
    expect(ofOther.data).toEqual({ projects: { nodes: [{ name: 'Project 2' }] } });
    const ofOwn = await askById(gateway, 'acme agent local', 'overview');
    expect(ofOwn.data).toEqual({ projects: { nodes: [{ name: 'Project 2' }, { name: 'Project 1' }] } });
  });

  test('has the log tell the roles that an operation ran with', async () => {
    await using upstream = await startUpstream(routes);
    const roles: unknown[] = [];
    const log: GatewayOptions['log'] = (_level, message, facts) => {
      if (message === 'operation') roles.push(isObject(facts) && facts['roles']);
    };
    await using gateway = await startListed(upstream, { log });
    for (const user of ['acme agent local unknown', 'acme agent', 'globex agent'])
      await askById(gateway, user, 'other');
    expect(roles).toEqual([['local'], ['agent'], undefined]);
  });
});

describe('A document that a role names, and no manifest has,', () => {
  const missing =
    'UPSTREAM_KEYS: expected Overview in the role "agent" of "acme" to be an operation of a listed document, but there is none';

  test('stops the start, with manifests and without', async () => {
    await using upstream = await startUpstream(routes);
    await expect(startListed(upstream, {}, { listed: { other: documents.other } })).rejects.toThrow(missing);
    await expect(startListed(upstream, { persisted: { mode: 'off' } })).rejects.toThrow(missing);
    await expect(startListed(upstream, { persisted: { files: undefined } })).rejects.toThrow(missing);
  });

  test('is logged if a manifest loses it, and the old documents stay', async () => {
    using folder = createFolder();
    await using upstream = await startUpstream(routes);
    const logged: string[] = [];
    const log: GatewayOptions['log'] = (_level, message) => void logged.push(message);
    const files = folder.write('manifest.json', documents);
    await using gateway = await startListed(upstream, { persisted: { files, pollMs: 60_000 }, log });
    const { overview: _, ...others } = documents;
    folder.write('manifest.json', others);
    await gateway.gateway.reload();
    expect(logged).toContain(`persisted documents stay as they were: ${missing}`);
    expect((await askById(gateway, 'acme agent', 'overview')).status).toBe(200);
    // Once no role names it, it may go.
    gateway.take({ acme: { key: 'k' } });
    await gateway.gateway.reload();
    expect((await askById(gateway, 'acme', 'overview')).status).toBe(404);
  });
});

test('agents are shown the tools that their roles may run, and may use no other', async () => {
  await using upstream = await startUpstream(routes);
  const own: Entries = {
    acme: {
      key: 'k',
      projects: ['1', '2'],
      mutations: ['updateProject'],
      roles: { agent: { documents: ['Overview'] }, local: { projects: ['1'] }, editor: { mutations: true } },
    },
  };
  await using gateway = await startListed(upstream, { mcp: { tools: ['*', 'Change'], publicUrl } }, { given: own });
  const toolsOf = async (user: string): Promise<readonly unknown[]> => {
    const { body } = await askMcp(gateway, 'tools/list', {}, { headers: await gateway.headersOf(user) });
    return body.result.tools.map(({ name, _meta: { restCalls } }) => `${name} ${restCalls.lower}–${restCalls.upper}`);
  };
  expect(await toolsOf('acme agent')).toEqual(['Overview 2–2']);
  expect(await toolsOf('acme local')).toEqual(['Other 1–1', 'Overview 1–1']);
  expect(await toolsOf('acme agent local')).toEqual(['Other 1–1', 'Overview 2–2']);
  expect(await toolsOf('acme editor')).toEqual(['Change 1–1', 'Other 2–2', 'Overview 2–2']);
  const headers = await gateway.headersOf('acme agent');
  for (const name of ['Other', 'Change']) {
    const { body } = await askMcp(gateway, 'tools/call', { name, arguments: {} }, { headers });
    expect(body.error.code).toBe(-32602);
  }
  expect(upstream.requests).toEqual([]);
  expect((await callTool(gateway, 'Overview', {}, { headers })).isError).toBeFalsy();
});
