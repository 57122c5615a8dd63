import type { GatewayOptions } from '../../src/gateway.ts';
import type { JsonSchema } from '../../src/mcp/json-schema.ts';
import { key, startGateway, type TestGateway } from './gateway.ts';
import { createFolder, type Folder } from './persisted.ts';
import { type Entries, startTenants, type TenantGateway } from './tenants.ts';

/** A tool as agents see it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: { readonly type: unknown };
  readonly annotations: object;
  readonly _meta: { readonly restCalls: { readonly lower: number; readonly upper: number; readonly waves: number } };
}

/** A result of any method: which members there are, tests find out. */
export interface McpResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent: unknown;
  readonly isError: boolean;
  readonly tools: readonly ListedTool[];
  readonly protocolVersion: string;
  readonly _meta: {
    readonly restCalls: { readonly actual: number; readonly cached: number; readonly budget?: readonly object[] };
  };
}

/** An answer of `/mcp`. */
export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: { readonly id: unknown; readonly result: McpResult; readonly error: { readonly code: number } };
}

/** The request of an agent. */
export interface AgentRequest {
  readonly edition?: '2026-07-28' | '2025-11-25' | '2025-06-18';
  readonly headers?: Readonly<Record<string, string>>;
  /** The key to ask with; undefined for that of the tests, null for none. */
  readonly asKey?: string | null;
  readonly signal?: AbortSignal;
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

type Params = Readonly<Record<string, unknown>>;

/** The URL of the endpoint for agents, from that of GraphQL. */
export function mcpUrlOf({ url }: Pick<TestGateway, 'url'>): string {
  return url.replace(/graphql$/, 'mcp');
}

/** Sends one request to `/mcp`, as a client of an edition does; by default the newest. */
export async function askMcp(
  gateway: Pick<TestGateway, 'url'>,
  method: string,
  params: Params = {},
  { edition = '2026-07-28', headers = {}, asKey = key, signal }: AgentRequest = {},
): Promise<McpAnswer> {
  const isModern = edition === '2026-07-28';
  const name = method === 'tools/call' ? { 'mcp-name': String(params['name']) } : {};
  const response = await fetch(mcpUrlOf(gateway), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': edition,
      ...(isModern && { 'mcp-method': method, ...name }),
      ...(asKey !== null && { authorization: `Bearer ${asKey}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, ...(isModern && { _meta: meta }) } }),
    ...(signal !== undefined && { signal }),
  });
  const text = await response.text();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it really is, the tests find out
  const body = JSON.parse(text) as McpAnswer['body'];
  return { status: response.status, headers: response.headers, text, body };
}

/** Uses a tool. Returns the result. */
export async function callTool(
  gateway: Pick<TestGateway, 'url'>,
  name: string,
  values: Params = {},
  request?: AgentRequest,
): Promise<McpResult> {
  const { body } = await askMcp(gateway, 'tools/call', { name, arguments: values }, request);
  return body.result;
}

/** The sentences of a result, which an agent reads. */
export function sentencesOf({ content }: McpResult): string {
  return content.map(({ text }) => text).join('\n');
}

function agentOptions(file: string, tools: readonly string[]): Partial<GatewayOptions> {
  return { persisted: { files: file }, mcp: { tools, publicUrl: undefined } };
}

/** A gateway that serves agents, with the folder of its documents. */
export type AgentGateway = TestGateway & { readonly folder: Folder };

/**
 * Starts a gateway whose tools are the operations of these documents, one text or a manifest; all queries unless `tools`
 * says otherwise.
 */
export async function startAgents(
  upstream: { readonly url: string },
  documents: string | Readonly<Record<string, string>>,
  { tools = ['*'], ...options }: Partial<GatewayOptions> & { readonly tools?: readonly string[] } = {},
): Promise<AgentGateway> {
  const folder = createFolder();
  const file = folder.write(typeof documents === 'string' ? 'tools.graphql' : 'tools.json', documents);
  const { persisted, ...others } = options;
  const agents = agentOptions(file, tools);
  const gateway = await startGateway(upstream, {
    ...agents,
    ...others,
    persisted: { ...agents.persisted, ...persisted },
  });
  return {
    ...gateway,
    folder,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Under which URL the gateways of tests are said to be reached. */
export const publicUrl = 'https://gateway.test/base';

/** A gateway that serves agents of tenants, with the folder of its documents. */
type TenantAgentGateway = TenantGateway & { readonly folder: Folder };

/** Starts the same over keys of tenants. */
export async function startTenantAgents(
  upstream: { readonly url: string },
  documents: string,
  entries: Entries,
  { tools = ['*'], ...options }: Partial<GatewayOptions> & { readonly tools?: readonly string[] } = {},
): Promise<TenantAgentGateway> {
  const folder = createFolder();
  const mcp = { tools, publicUrl };
  const persisted = { files: folder.write('tools.graphql', documents) };
  const gateway = await startTenants(upstream, entries, { persisted, mcp, ...options });
  return {
    ...gateway,
    folder,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
