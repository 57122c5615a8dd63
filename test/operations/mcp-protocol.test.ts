import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askMcp, mcpUrlOf, startAgents } from '../support/agents.ts';

const documents = `
query Dashboards($project: ID!) { project(id: $project) { name } }
query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }
`;

const nowhere = { url: 'http://127.0.0.1:1' };

describe('The protocol', () => {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
  let gateway: Awaited<ReturnType<typeof startAgents>>;
  beforeAll(async () => {
    gateway = await startAgents(nowhere, documents);
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('has a handshake before 2026, and is discovered since', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { body } = await askMcp(gateway, 'initialize', params, { edition: '2025-06-18' });
    expect(body.result).toMatchObject({ protocolVersion: '2025-06-18', capabilities: { tools: {} } });
    const newer = await askMcp(
      gateway,
      'initialize',
      { ...params, protocolVersion: '2027-01-01' },
      { edition: '2025-11-25' },
    );
    expect(newer.body.result.protocolVersion).toBe('2025-11-25');
    for (const method of ['ping', 'logging/setLevel'])
      expect((await askMcp(gateway, method, {}, { edition: '2025-11-25' })).body.result).toEqual({});
    const discovered = await askMcp(gateway, 'server/discover');
    expect(discovered.body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
      capabilities: { tools: {} },
    });
    for (const method of ['ping', 'initialize', 'prompts/list', 'subscriptions/listen', 'constructor']) {
      const { status, body: answer } = await askMcp(gateway, method);
      expect([status, answer.error.code]).toEqual([404, -32_601]);
    }
  });

  test('takes notifications without an answer', async () => {
    const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const response = await fetch(mcpUrlOf(gateway), { ...post, body });
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  test.each<[string, number, number]>([
    ['{', 400, -32_700],
    ['[]', 400, -32_600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32_600],
    ['5', 400, -32_600],
    ['99999999999999999999', 400, -32_600],
    ['{"id":1,"method":"ping"}', 400, -32_600],
    ['{"jsonrpc":"2.0","id":1}', 400, -32_600],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32_600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32_600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32_600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32_600],
    [`{"jsonrpc":"2.0","id":"${'x'.repeat(300)}","method":"ping"}`, 400, -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32_600],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`, 400, -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}', 200, -32_602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__"}}', 200, -32_602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}', 200, -32_602],
  ])('refuses the message %s', async (body, status, code) => {
    const response = await fetch(mcpUrlOf(gateway), { ...post, body });
    expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
    expect(gateway.reported).toEqual([]);
  });

  test.each(['[]', '"x"', '5', 'true'])('says that the arguments %s are no object', async (values) => {
    const params = `{"name":"Dashboards","arguments":${values}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    const response = await fetch(mcpUrlOf(gateway), { ...post, body });
    const text = `Expected the arguments to be an object, but got ${values}.`;
    expect(await response.json()).toMatchObject({ result: { isError: true, content: [{ text }] } });
  });

  test('keeps every digit of an id', async () => {
    const body = '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}';
    const response = await fetch(mcpUrlOf(gateway), { ...post, body });
    expect(await response.text()).toBe('{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}');
  });

  test.each<[string, Readonly<Record<string, string>>, number]>([
    ['another version in the header', { 'mcp-protocol-version': '2025-11-25' }, -32_020],
    ['two versions in the header', { 'mcp-protocol-version': '2026-07-28, 2026-07-28' }, -32_020],
    ['another method in the header', { 'mcp-method': 'tools/call' }, -32_020],
    ['a method in capitals in the header', { 'mcp-method': 'TOOLS/LIST' }, -32_020],
  ])('refuses %s', async (_what, headers, code) => {
    const { status, body } = await askMcp(gateway, 'tools/list', {}, { headers });
    expect([status, body.error.code, body.id]).toEqual([400, code, 1]);
  });

  test.each([
    ['Nodes', 'Dashboards', 400],
    ['=?base64?RGFzaGJvYXJkcw==?=', 'Dashboards', 200],
    ['=?base64?RGFzaGJvYXJkcw?=', 'Dashboards', 400],
    ['', 'Dashboards', 400],
  ])('compares the header Mcp-Name: %s with the body', async (header, name, status) => {
    const answer = await askMcp(gateway, 'tools/call', { name, arguments: {} }, { headers: { 'mcp-name': header } });
    expect(answer.status).toBe(status);
  });

  test('refuses versions that it does not speak, and names those that it does', async () => {
    const headers = { ...post.headers, 'mcp-protocol-version': '2024-11-05' };
    const response = await fetch(mcpUrlOf(gateway), {
      ...post,
      headers,
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        error: {
          code: -32_022,
          data: { supported: ['2026-07-28', '2025-11-25', '2025-06-18'], requested: '2024-11-05' },
        },
      },
    ]);
  });

  test.each(['GET', 'DELETE', 'PUT', 'HEAD'])('answers %s with 405', async (method) => {
    const response = await fetch(mcpUrlOf(gateway), { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test.each([
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    [{ 'content-type': 'application/json', accept: 'text/html' }, 406],
  ])('refuses a request with %j', async (headers, status) => {
    const response = await fetch(mcpUrlOf(gateway), { method: 'POST', headers, body: '{}' });
    expect(response.status).toBe(status);
  });

  test('refuses a body that is too large', async () => {
    await using narrow = await startAgents(nowhere, documents, { bodyLimits: { bytes: 1024, jsonDepth: 100 } });
    const { status, body } = await askMcp(narrow, 'ping', { x: 'x'.repeat(2000) });
    expect([status, body.error.code]).toEqual([413, -32_600]);
  });
});

describe('Origins', () => {
  test.each([
    ['https://evil.example', undefined, 403],
    ['http://127.0.0.1.evil.example', undefined, 403],
    ['null', undefined, 403],
    ['http://localhost:6274', undefined, 200],
    ['http://[::1]:3000', undefined, 200],
    ['https://app.example', undefined, 200],
    ['http://localhost:6274', 'https://gateway.example/base', 403],
    ['https://gateway.example', 'https://gateway.example/base', 200],
    ['https://app.example', 'https://gateway.example/base', 200],
  ])('a request from %s to a gateway at %s is answered with %i', async (origin, publicUrl, status) => {
    const mcp = { tools: ['*'], publicUrl };
    await using gateway = await startAgents(nowhere, documents, { mcp, corsOrigins: ['https://app.example'] });
    const headers = { origin, host: 'evil.example' };
    expect((await askMcp(gateway, 'tools/list', {}, { headers })).status).toBe(status);
  });

  test('pages of listed origins may send the headers of the protocol', async () => {
    await using gateway = await startAgents(nowhere, documents, { corsOrigins: ['https://app.example'] });
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    const preflight = await fetch(mcpUrlOf(gateway), { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')?.split(', ')).toEqual(
      expect.arrayContaining(['mcp-protocol-version', 'mcp-method', 'mcp-name', 'authorization']),
    );
  });
});
