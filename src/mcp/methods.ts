import { setImmediate } from 'node:timers/promises';
import type { HttpRequestContext } from '../http/request-context.ts';
import { isObject, type JsonObject } from '../rest/values.ts';
import { packageVersion } from '../version.ts';
import { type CallOptions, type CallResult, callTool } from './call.ts';
import { type Edition, editions, isOlder, metaNames, olderEditions } from './editions.ts';
import { errorCodes, McpError, type Message } from './message.ts';
import type { ToolDefinition } from './tool.ts';
import type { Tools } from './tools.ts';

/** Collaborators of the methods. */
export interface MethodOptions extends CallOptions {
  /** The current tools. */
  readonly tools: () => Tools;
  /** True if tools depend on the token of the caller. A list of tools is then for this caller alone. */
  readonly isPrivate: boolean;
  /** Called with the outcome of each use of a tool. */
  readonly onCall: (tool: string, result: CallResult) => void;
}

/** A request and its edition. */
export interface Asked {
  readonly message: Message;
  readonly edition: Edition;
  readonly context: HttpRequestContext;
}

/** The label of unknown tools. No name of an operation has this character. */
const unknownTool = '-';

/** Answers a request with the JSON text of its result. Rejects with an McpError. */
export type AnswerMethod = (asked: Asked) => Promise<string> | string;

/** Makes the methods of a server that only has tools. */
export function createMethods(options: MethodOptions): AnswerMethod {
  const lists = createLists(options);
  return (asked) => {
    const { message, edition } = asked;
    const { method } = message;
    if (method === 'tools/list') return lists(asked);
    if (method === 'tools/call') return call(asked, options);
    if (isOlder(edition)) {
      if (method === 'initialize') return initialized(message.params);
      if (method === 'ping' || method === 'logging/setLevel') return '{}';
    } else if (method === 'server/discover') return discovered(options);
    const status = isOlder(edition) ? 200 : 404;
    throw new McpError(errorCodes.unknownMethod, `Method not found: ${method}`, { status });
  };
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
  const meta = { [metaNames.server]: serverInfo };
  const supported = { supportedVersions: editions, capabilities: { tools: {} }, instructions };
  return JSON.stringify({ ...complete, ...supported, ...cacheable(isPrivate), _meta: meta });
}

const complete = { resultType: 'complete' } as const;

/** The time for which a client may keep a list, in milliseconds. */
const listTtlMs = 60_000;

function cacheable(isPrivate: boolean): JsonObject {
  return { ttlMs: listTtlMs, cacheScope: isPrivate ? 'private' : 'public' };
}

/** Answers `tools/list`. The texts of definitions are kept for as long as their tools. */
function createLists({ tools, isPrivate }: MethodOptions): (asked: Asked) => Promise<string> {
  const known = new WeakMap<ToolDefinition, DefinitionTexts>();
  return async ({ message: { params }, edition, context: { caller } }) => {
    if (params['cursor'] !== undefined && params['cursor'] !== null)
      throw invalidParams('Expected no `cursor`: the list is one page.', edition);
    const texts: string[] = [];
    for (const tool of tools().values()) {
      if (!tool.isFor(caller?.tenant)) continue;
      const definition = tool.definitionFor(caller?.tenant);
      // The cost of the tool was planned just now, so other requests get a turn before the next tool.
      if (!known.has(definition)) await setImmediate();
      const ofTool = known.get(definition) ?? textsOf(definition);
      known.set(definition, ofTool);
      texts.push(ofTool[isOlder(edition) ? 'older' : 'modern']);
    }
    const list = `"tools":[${texts.join()}]`;
    if (isOlder(edition)) return `{${list}}`;
    const meta = { _meta: { [metaNames.server]: serverInfo } };
    const members = JSON.stringify({ ...complete, ...cacheable(isPrivate), ...meta }).slice(1, -1);
    return `{${list},${members}}`;
  };
}

/** The JSON of a tool for each kind of edition. */
interface DefinitionTexts {
  readonly modern: string;
  /** For editions before 2026-07-28, in which the result of a tool is always an object. */
  readonly older: string;
}

function textsOf(definition: ToolDefinition): DefinitionTexts {
  const outputSchema = { ...definition.outputSchema, type: ['object', 'null'] };
  return { older: JSON.stringify(definition), modern: JSON.stringify({ ...definition, outputSchema }) };
}

async function call({ message: { params }, edition, context }: Asked, options: MethodOptions): Promise<string> {
  const { name, arguments: values, _meta: given } = params;
  if (typeof name !== 'string') throw invalidParams('Expected `params.name` to be the name of a tool.', edition);
  const tool = options.tools().get(name);
  if (tool === undefined || !tool.isFor(context.caller?.tenant)) {
    options.onCall(unknownTool, 'refused');
    throw invalidParams(`Unknown tool: ${name.slice(0, 100)}`, edition);
  }
  if (isObject(given)) context.follow(given);
  const { members, meta, result } = await callTool(tool, values, { edition, context, options });
  options.onCall(tool.name, result);
  if (isOlder(edition)) return `{${[...members, `"_meta":${JSON.stringify(meta)}`].join()}}`;
  const all = JSON.stringify({ ...meta, [metaNames.server]: serverInfo });
  return `{${['"resultType":"complete"', ...members, `"_meta":${all}`].join()}}`;
}

function invalidParams(message: string, edition: Edition): McpError {
  return new McpError(errorCodes.invalidParams, message, { status: isOlder(edition) ? 200 : 400 });
}
