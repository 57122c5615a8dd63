import { setImmediate } from 'node:timers/promises';
import type { HttpRequestContext } from '../http/request-context.ts';
import type { RunOperation } from '../operation/pipeline.ts';
import { isObject, type JsonObject } from '../rest/values.ts';
import { packageVersion } from '../version.ts';
import { callTool, type ToolResult } from './call.ts';
import { editions, errorCodes, McpError, type Message, metaNames, olderEditions, type Protocol } from './message.ts';
import type { ToolDefinition, Tools } from './tool.ts';

export interface MethodOptions {
  readonly run: RunOperation;
  readonly tools: () => Tools;
  /** True if tools depend on the token of the caller. A list of tools is then for this caller alone. */
  readonly isPrivate: boolean;
  readonly onCall: (tool: string, result: ToolResult) => void;
}

export interface McpRequest {
  readonly message: Message;
  readonly protocol: Protocol;
  readonly context: HttpRequestContext;
}

/** The label of unknown tools in metrics. No name of an operation has this character. */
const unknownTool = '-';

/**
 * Answers a request with the JSON text of its result. The server has tools only. Rejects with an McpError if the method
 * is unknown or its parameters are wrong.
 */
export async function answerMethod(request: McpRequest, options: MethodOptions): Promise<string> {
  const { message, protocol } = request;
  const { method } = message;
  if (method === 'tools/list') return list(request, options);
  if (method === 'tools/call') return call(request, options);
  if (protocol === 'older') {
    if (method === 'initialize') return initialized(message.params);
    if (method === 'ping' || method === 'logging/setLevel') return '{}';
  } else if (method === 'server/discover') return discovered(options);
  const status = protocol === 'older' ? 200 : 404;
  throw new McpError(errorCodes.unknownMethod, `Method not found: ${method}`, { status });
}

const serverInfo = { name: 'workspace-graphql-gateway', title: 'Workspace GraphQL gateway', version: packageVersion() };

const instructions =
  'Each tool runs one GraphQL operation over a REST API. The last line of its description, and `_meta.restCalls`, say how many REST calls it costs; the `_meta.restCalls` of a result says how many it made, how many reads needed none, and what is left of the budget. Ask for small pages first, and pass on the ids and cursors of results as they are.';

function initialized({ protocolVersion }: JsonObject): string {
  const version = olderEditions.find((one) => one === protocolVersion) ?? olderEditions[0];
  // The methods for levels of logging are accepted, but clients are never sent a log.
  const capabilities = { tools: {}, logging: {} };
  return JSON.stringify({ protocolVersion: version, capabilities, serverInfo, instructions });
}

function discovered({ isPrivate }: MethodOptions): string {
  const supported = JSON.stringify({ supportedVersions: editions, capabilities: { tools: {} }, instructions });
  return resultOf('modern', [supported.slice(1, -1), ...cacheable(isPrivate)]);
}

/** The JSON of a result. Since 2026-07-28, a result also says that it is complete, and which server gave it. */
function resultOf(protocol: Protocol, members: readonly string[], meta?: JsonObject): string {
  const all = protocol === 'older' ? meta : { ...meta, [metaNames.server]: serverInfo };
  const first = protocol === 'older' ? [] : ['"resultType":"complete"'];
  return `{${[...first, ...members, ...(all === undefined ? [] : [`"_meta":${JSON.stringify(all)}`])].join()}}`;
}

/** The time for which a client may keep a list, in milliseconds. */
const listTtlMs = 60_000;

function cacheable(isPrivate: boolean): readonly string[] {
  return [`"ttlMs":${listTtlMs}`, `"cacheScope":"${isPrivate ? 'private' : 'public'}"`];
}

/** The JSON of each definition in both forms of the protocol. It is made once, and dropped with the definition. */
const knownTexts = new WeakMap<ToolDefinition, Readonly<Record<Protocol, string>>>();

async function list(
  { message: { params }, protocol, context: { caller } }: McpRequest,
  { tools, isPrivate }: MethodOptions,
): Promise<string> {
  if (params['cursor'] !== undefined && params['cursor'] !== null)
    throw invalidParams('Expected no `cursor`: the list is one page.', protocol);
  const texts: string[] = [];
  for (const tool of tools().values()) {
    if (!tool.isFor(caller)) continue;
    const definition = tool.definitionFor(caller);
    // The cost of the tool was planned just now, so other requests get a turn before the next tool.
    if (!knownTexts.has(definition)) await setImmediate();
    const ofTool = knownTexts.get(definition) ?? textsOf(definition);
    knownTexts.set(definition, ofTool);
    texts.push(ofTool[protocol]);
  }
  return resultOf(protocol, [`"tools":[${texts.join()}]`, ...(protocol === 'older' ? [] : cacheable(isPrivate))]);
}

/** The JSON of a tool in each form of the protocol. Before 2026-07-28, the result of a tool is always an object. */
function textsOf(definition: ToolDefinition): Readonly<Record<Protocol, string>> {
  const outputSchema = { ...definition.outputSchema, type: ['object', 'null'] };
  return { older: JSON.stringify(definition), modern: JSON.stringify({ ...definition, outputSchema }) };
}

async function call({ message: { params }, protocol, context }: McpRequest, options: MethodOptions): Promise<string> {
  const { name, arguments: values, _meta: given } = params;
  if (typeof name !== 'string') throw invalidParams('Expected `params.name` to be the name of a tool.', protocol);
  const tool = options.tools().get(name);
  if (tool === undefined || !tool.isFor(context.caller)) {
    options.onCall(unknownTool, 'refused');
    throw invalidParams(`Unknown tool: ${name.slice(0, 100)}`, protocol);
  }
  if (isObject(given)) context.joinTrace(given);
  const { members, meta, result } = await callTool(tool, values, protocol, context, options.run);
  options.onCall(tool.name, result);
  return resultOf(protocol, members, meta);
}

function invalidParams(message: string, protocol: Protocol): McpError {
  return new McpError(errorCodes.invalidParams, message, { status: protocol === 'older' ? 200 : 400 });
}
