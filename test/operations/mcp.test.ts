import { describe, expect, test } from 'vitest';
import { askMcp, callTool, mcpUrlOf, sentencesOf, startAgents } from '../support/agents.ts';
import { startOver } from '../support/both.ts';
import { textOf } from '../support/documentation.ts';
import { key, startGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { createFolder } from '../support/persisted.ts';
import { hang, type JsonObject, refusal, reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { listedDashboard, project } from '../support/rows.ts';
import { until } from '../support/until.ts';

const documents = `
"The dashboards of a project."
query Dashboards("Which project." $project: ID!, $first: Int = 1, $after: String) {
  project(id: $project) { name dashboards(first: $first, after: $after) { nodes { upstreamId name } } }
}
query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }
query Deep($first: Int = 2) { projects(first: $first) { nodes { dashboards(first: $first) { nodes { tiles } } } } }
mutation Rename($id: ID!, $name: String!) { updateProject(input: { id: $id, name: $name }) { project { name appUrls } } }
`;

const subscription = 'subscription Follow { eventsAdded(projectId: "1") { cursor } }';

/** The members of a body, as REST answers them. */
function named(body: string): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gateway sends objects
  return JSON.parse(body) as JsonObject;
}

const routes: Routes = {
  'GET /api/projects/': listOf([1, 2].map((id) => project(id))),
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/dashboards/': listOf([1, 2, 3].map((id) => listedDashboard(id))),
  'PATCH /api/projects/:id/': ({ params, body }) => ({ ...project(Number(params['id'])), ...named(body) }),
};

/** Starts a gateway whose tools are `documents`, over an upstream with `routes` and `others`. */
function start(options: Parameters<typeof startAgents>[2] = {}, others: Routes = {}) {
  return startOver({ ...routes, ...others }, (upstream) => startAgents(upstream, documents, options), { hold: 0 });
}

const nowhere = { url: 'http://127.0.0.1:1' };

const anyText: unknown = expect.any(String);
const serverInfo: unknown = expect.objectContaining({ name: 'workspace-graphql-gateway' });

describe('Without tools', () => {
  test('there is no endpoint for agents', async () => {
    await using gateway = await startGateway(nowhere);
    const { status, text } = await askMcp(gateway, 'tools/list');
    expect([status, text]).toEqual([
      404,
      '{"errors":[{"message":"There is nothing here: the endpoint is /graphql."}]}',
    ]);
  });
});

describe('The list of tools', () => {
  test('tells what each takes, answers and costs, in a stable order', async () => {
    await using gateway = await startAgents(nowhere, documents, { tools: ['Rename', '*'] });
    const { status, body } = await askMcp(gateway, 'tools/list');
    expect(status).toBe(200);
    const { tools, ...others } = body.result;
    expect(others).toEqual({
      resultType: 'complete',
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
    });
    expect(tools.map(({ name }) => name)).toEqual(['Dashboards', 'Deep', 'Nodes', 'Rename']);
    expect(tools[0]).toEqual({
      name: 'Dashboards',
      description: 'The dashboards of a project.\nCosts 2 REST calls in 1 wave.',
      inputSchema: {
        type: 'object',
        properties: {
          project: {
            type: 'string',
            pattern: '^(?:(?:0|-?[1-9]\\d{0,18})|@current|UHJvamVj[\\w-]{2,2180})$',
            description: 'the id of a Project: an integer, @current, or its global id. Which project.',
          },
          first: { type: ['integer', 'null'], minimum: 0, maximum: 100, description: anyText, default: 1 },
          after: { type: ['string', 'null'], description: anyText },
        },
        required: ['project'],
        additionalProperties: false,
      },
      outputSchema: {
        type: ['object', 'null'],
        properties: {
          project: {
            type: ['object', 'null'],
            properties: {
              name: { type: ['string', 'null'] },
              dashboards: {
                type: ['object', 'null'],
                properties: {
                  nodes: {
                    type: 'array',
                    items: {
                      type: ['object', 'null'],
                      properties: { upstreamId: { type: 'string' }, name: { type: ['string', 'null'] } },
                      required: ['upstreamId', 'name'],
                    },
                  },
                },
                required: ['nodes'],
              },
            },
            required: ['name', 'dashboards'],
          },
        },
        required: ['project'],
      },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      _meta: { restCalls: { lower: 2, upper: 2, waves: 1 } },
    });
    expect(tools[1]?.description).toMatch(/\nCosts 1 to 7 REST calls in 3 waves; up to 150 with first: 100\.$/);
    expect(tools[2]?.inputSchema.properties?.['ids']).toMatchObject({ type: 'array', maxItems: 100 });
    expect(tools[3]?.annotations).toEqual({
      ...{ readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    });
  });

  test('has objects only in editions before 2026', async () => {
    await using gateway = await startAgents(nowhere, documents);
    const { body } = await askMcp(gateway, 'tools/list', {}, { edition: '2025-06-18' });
    expect(Object.keys(body.result)).toEqual(['tools']);
    expect(body.result.tools[0]?.outputSchema.type).toBe('object');
  });

  test.each([
    ['Nope', 'expected Nope to be an operation of a listed document that is valid, but there is none'],
    ['Follow', 'expected Follow to be a query or a mutation, but it is a subscription'],
  ])('is refused at the start for %s', async (name, message) => {
    const live = { pollMs: 10_000, maxStreams: 10, maxStreamsPerCaller: 10 };
    const started = startAgents(nowhere, `${documents}${subscription}`, { tools: [name], live });
    await expect(started).rejects.toThrow(message);
  });

  test('is refused at the start for a name that two documents have', async () => {
    using folder = createFolder();
    folder.write('a.graphql', 'query A { __typename }');
    folder.write('b.graphql', 'query A { a: __typename }');
    const options = {
      persisted: { files: `${folder.path}/*.graphql` },
      mcp: { tools: ['*'], publicUrl: undefined },
    };
    await expect(startGateway(nowhere, options)).rejects.toThrow('that differ');
  });

  test('stays as it was if a reload cannot be used', async () => {
    const lines: string[] = [];
    const log = (level: string, message: string): void => void lines.push(`${level}: ${message}`);
    await using gateway = await startAgents(nowhere, 'query A { __typename }', {
      tools: ['A'],
      log,
    });
    gateway.folder.write('tools.graphql', 'query B { __typename }');
    await gateway.gateway.reload();
    await until(() => lines.some((line) => line.startsWith('error: persisted documents stay as they were: MCP_TOOLS')));
    expect(await callTool(gateway, 'A')).toMatchObject({ structuredContent: { __typename: 'Query' } });
    gateway.folder.write('tools.graphql', 'query A { again: __typename }');
    await gateway.gateway.reload();
    expect(await callTool(gateway, 'A')).toMatchObject({ structuredContent: { again: 'Query' } });
  });
});

describe('A tool', () => {
  test('answers the data of its document, and the REST calls that it made', async () => {
    const { upstream, gateway } = await start();
    const data = { project: { name: 'Project 1', dashboards: { nodes: [{ upstreamId: '1', name: 'Dashboard 1' }] } } };
    expect(await callTool(gateway, 'Dashboards', { project: '1' })).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: JSON.stringify(data) }],
      structuredContent: data,
      _meta: { restCalls: { actual: 2, cached: 0 }, 'io.modelcontextprotocol/serverInfo': serverInfo },
    });
    expect(upstream.requests).toHaveLength(2);
    const older = await callTool(gateway, 'Dashboards', { project: 1, first: null }, { edition: '2025-11-25' });
    expect(Object.keys(older)).toEqual(['content', 'structuredContent', '_meta']);
  });

  test.each<[Readonly<Record<string, unknown>>, string]>([
    [
      {},
      'Expected `project`, a string (the id of a Project: an integer, @current, or its global id), but it is left out.',
    ],
    [
      { project: 'x' },
      'Expected `project` to be a string (the id of a Project: an integer, @current, or its global id), but got "x".',
    ],
    [{ project: '1', first: 101 }, 'Expected `first` to be a whole number or null from 0 to 100, but got 101.'],
    [{ project: '1', first: 1.5 }, 'Expected `first` to be a whole number or null from 0 to 100, but got 1.5.'],
    [{ project: '1', more: 1 }, 'Expected no argument "more": there are `project`, `first`, `after`.'],
    [{ project: '1', ['__proto__']: 1 }, 'Expected no argument "__proto__": there are `project`, `first`, `after`.'],
  ])('says what is wrong with %j, and calls nothing', async (values, message) => {
    const { upstream, gateway } = await start();
    const result = await callTool(gateway, 'Dashboards', values);
    expect([result.isError, sentencesOf(result), result._meta.restCalls.actual]).toEqual([true, message, 0]);
    expect(upstream.requests).toEqual([]);
  });

  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      'Dashboards',
      { project: '1', after: 'x' },
      'Expected `after` to be a cursor of this list with these filters, but got "x".',
    ],
    ['Both', { first: 1, last: 1 }, 'Expected either `first` or `last`, but got both.'],
    ['Move', { first: 1, last: 1 }, 'Expected either `first` or `last`, but got both.'],
  ])('%s calls nothing for arguments that no schema can refuse: %j', async (name, values, message) => {
    const more = `query Both($first: Int, $last: Int) { projects(first: 1) { nodes { name dashboards(first: $first, last: $last) { totalCount } } } }
      mutation Move($first: Int, $last: Int) { updateProject(input: { id: "1", name: "x" }) { project { dashboards(first: $first, last: $last) { totalCount } } } }`;
    const { upstream, gateway } = await startOver(routes, (api) =>
      startAgents(api, documents + more, { tools: ['*', 'Move'] }),
    );
    const result = await callTool(gateway, name, values);
    expect([result.isError, sentencesOf(result), result._meta.restCalls.actual]).toEqual([true, message, 0]);
    expect(upstream.requests).toEqual([]);
  });

  test('says which size fits if it costs too much', async () => {
    const { upstream, gateway } = await start();
    const result = await callTool(gateway, 'Deep', { first: 100 });
    expect(result.isError).toBe(true);
    expect(sentencesOf(result)).toMatch(/Ask for `first` of at most 10\.$/);
    expect(upstream.requests).toEqual([]);
    expect(await callTool(gateway, 'Deep', { first: 10 })).not.toHaveProperty('isError');
  });

  test('says what failed beside what is there', async () => {
    const { gateway } = await start(
      {},
      {
        'GET /api/projects/:id/dashboards/': refusal(403, 'permission_denied', 'secret words of the upstream'),
      },
    );
    const result = await callTool(gateway, 'Dashboards', { project: '1' });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { project: { name: 'Project 1', dashboards: null } },
    });
    expect(sentencesOf(result)).toContain('`project.dashboards`: The key is not allowed to do this.');
    expect(JSON.stringify(result)).not.toContain('secret words');
  });

  test('says when to come back if the upstream limits its key', async () => {
    const limited = reply({
      status: 429,
      headers: { 'retry-after': '120' },
      body: '{"type":"throttled_error","code":"throttled","detail":"Slow down.","attr":null}',
    });
    const { gateway } = await start(
      {},
      {
        'GET /api/projects/:id/': limited,
        'GET /api/projects/:id/dashboards/': limited,
      },
    );
    const result = await callTool(gateway, 'Dashboards', { project: '1' });
    expect(sentencesOf(result)).toMatch(/Try again in 120 seconds\./);
  });

  test('needs a key, as /graphql does', async () => {
    const { upstream, gateway } = await start();
    const result = await callTool(gateway, 'Dashboards', { project: '1' }, { asKey: null });
    expect([result.isError, sentencesOf(result)]).toEqual([true, expect.stringContaining('Authorization: Bearer')]);
    expect(upstream.requests).toEqual([]);
  });

  test('refuses an answer that is too large, and names what makes it smaller', async () => {
    const rows = Array.from({ length: 100 }, (_, at) => listedDashboard(at + 1, { name: 'x'.repeat(2000) }));
    const { gateway } = await start({}, { 'GET /api/projects/:id/dashboards/': listOf(rows) });
    const result = await callTool(gateway, 'Dashboards', { project: '1', first: 100 });
    expect(sentencesOf(result)).toMatch(
      /^The answer has 20\d{4} characters, but at most 100000 are given: ask for less with `first`\.$/,
    );
    expect(result).toMatchObject({ isError: true, _meta: { restCalls: { actual: 2 } } });
    expect(result).not.toHaveProperty('structuredContent');
  });

  test('that changes something is cut instead, and says that it was done', async () => {
    const long = Array.from({ length: 100 }, () => 'x'.repeat(2000));
    const { upstream, gateway } = await start(
      { tools: ['Rename'] },
      { 'PATCH /api/projects/:id/': project(1, { app_urls: long }) },
    );
    const result = await callTool(gateway, 'Rename', { id: '1', name: 'New' });
    expect(result).not.toHaveProperty('isError');
    expect(result.structuredContent).toEqual({ updateProject: null });
    expect(result.content[0]?.text).toMatch(/^It was done\. The answer has 20\d{4} characters/);
    expect(result.content[1]?.text).toHaveLength(100_000);
    expect(upstream.requests).toEqual(['PATCH /api/projects/1/']);
  });

  test('that is not there is an error of the protocol', async () => {
    await using gateway = await startAgents(nowhere, documents);
    const { status, body } = await askMcp(gateway, 'tools/call', { name: 'Rename', arguments: {} });
    expect([status, body]).toEqual([
      400,
      { jsonrpc: '2.0', id: 1, error: { code: -32_602, message: 'Unknown tool: Rename' } },
    ]);
    const older = await askMcp(gateway, 'tools/call', { name: 'Rename' }, { edition: '2025-06-18' });
    expect([older.status, older.body.error.code]).toEqual([200, -32_602]);
  });

  test('stops its calls when its agent leaves', async () => {
    const { upstream, gateway } = await start({}, { 'GET /api/projects/:id/dashboards/': hang });
    // Calls of a key that is not proven go on.
    await callTool(gateway, 'Nodes', { ids: ['UHJvamVjdDox'] });
    const leaving = new AbortController();
    const asked = callTool(gateway, 'Dashboards', { project: '1' }, { signal: leaving.signal });
    await until(() => upstream.requests.some((request) => request.includes('dashboards')));
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    await until(() => upstream.records.some(({ cancelled }) => cancelled));
  });

  test('is told in the log and in the metrics', async () => {
    const lines: unknown[] = [];
    const { gateway } = await start({ log: (_level, _message, fields) => void lines.push(fields) });
    await callTool(gateway, 'Dashboards', { project: '1' });
    await callTool(gateway, 'Dashboards', {});
    await askMcp(gateway, 'tools/call', { name: 'made up\n', arguments: {} }, { edition: '2025-06-18' });
    expect(lines.at(-1)).toMatchObject({ transport: 'mcp', tool: 'Dashboards', operationName: 'Dashboards', calls: 2 });
    await callTool(gateway, 'Dashboards', { project: '1', after: 'x' });
    expect(lines.at(-1)).toMatchObject({ tool: 'Dashboards', calls: 0, codes: ['BAD_USER_INPUT'] });
    const text = await gateway.gateway.metrics.render();
    expect(text.split('\n').filter((line) => line.startsWith('gateway_mcp_calls_total'))).toEqual([
      'gateway_mcp_calls_total{tool="Dashboards",result="ok"} 1',
      'gateway_mcp_calls_total{tool="Dashboards",result="invalid_arguments"} 2',
      'gateway_mcp_calls_total{tool="-",result="refused"} 1',
    ]);
  });
});

test('a plan names the tool that its document is, in any layout, and what agents read of its cost', async () => {
  const both = { a: documents, b: 'query Other { __typename }' };
  await using gateway = await startAgents(nowhere, both, { explain: true });
  const toolIn = async (query: string, operationName?: string): Promise<unknown> => {
    const answer = await gateway.ask(query, {
      ...(operationName !== undefined && { operationName, variables: { ids: [], project: '1', id: '1', name: 'x' } }),
      extensions: { explain: 'plan' },
    });
    return answer.data === null && answer.extensions?.['explain'];
  };
  expect(await toolIn(`# mine\n${documents}`, 'Dashboards')).toMatchObject({
    upper: 2,
    tool: { name: 'Dashboards', cost: 'Costs 2 REST calls in 1 wave.' },
  });
  expect(await toolIn('query Other { __typename }')).toMatchObject({
    tool: { name: 'Other', cost: 'Costs no REST call.' },
  });
  // A change is no tool unless it is named, and neither is another text of the same name.
  for (const [text, name] of [
    [documents, 'Rename'],
    ['query Other { other: __typename }', 'Other'],
    ['{ __typename }', undefined],
  ] as const)
    expect(await toolIn(text, name)).not.toHaveProperty('tool');
});

test('the requests of docs/agents.md are answered by the tools of the examples', async () => {
  const tools = textOf('examples/agents/tools.graphql');
  const { gateway } = await startOver(routes, (upstream) => startAgents(upstream, tools));
  const bodies = [...textOf('docs/agents.md').matchAll(/ -d '(\{.*\})'$/gm)].map(([, body = '']) => body);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const answers: unknown[] = [];
  for (const body of bodies) {
    const response = await fetch(mcpUrlOf(gateway), { method: 'POST', headers, body });
    answers.push(await response.json());
  }
  expect(answers).toMatchObject([
    { id: 1, result: { tools: [{ name: 'ListDashboards' }, { name: 'ListProjects' }, { name: 'RecentEvents' }] } },
    { id: 2, result: { _meta: { restCalls: { actual: 1, cached: 0 } } } },
  ]);
});

test('the traces that messages name are continued', async () => {
  const { upstream, gateway } = await start();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';
  const _meta = { traceparent };
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'Nodes', arguments: { ids: ['UHJvamVjdDox'] }, _meta },
  });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  await fetch(mcpUrlOf(gateway), { method: 'POST', headers, body });
  expect(upstream.records[0]?.headers['traceparent']).toBe(traceparent);
});
