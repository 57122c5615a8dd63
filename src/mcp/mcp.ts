import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from '../auth/authenticator.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import { createCors } from '../http/cors.ts';
import { createIdentify } from '../http/identify.ts';
import type { BodyLimits } from '../http/request.ts';
import { answerHeaders } from '../http/response.ts';
import { createSend } from '../http/send.ts';
import type { Log } from '../log.ts';
import type { DocumentSet } from '../operation/persisted/document-set.ts';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import { type CallOptions, type CallResult } from './call.ts';
import { createMcpHandler, type McpHandler } from './handler.ts';
import { createMethods } from './methods.ts';
import type { OriginOptions } from './origins.ts';
import { mcpPath, type ProtectedResource } from './protected-resource.ts';
import type { ToolOptions } from './tool.ts';
import { type ToolNames, type Tools, toolsOf } from './tools.ts';

/** Collaborators and settings of the endpoint for agents. */
export interface McpOptions extends CallOptions, OriginOptions {
  readonly tools: () => Tools;
  /** Tells who asks from tokens; undefined: keys do. */
  readonly authenticator: Authenticator | undefined;
  /** The protected resource that tokens are issued for; undefined if there is none. */
  readonly resource: ProtectedResource | undefined;
  readonly corsHeaders: readonly string[];
  readonly compression: boolean;
  readonly bodyLimits: BodyLimits;
  readonly bodyBudget: BodyBudget;
  readonly onCall: (tool: string, result: CallResult) => void;
  readonly refused: CountRefused;
  readonly report: (error: unknown) => void;
  readonly log: Log;
}

/** Headers that the protocol wants requests to have. */
const protocolHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id'];

/** Makes the handlers for agents, by path. */
export function createMcp(options: McpOptions): ReadonlyMap<string, McpHandler> {
  const { authenticator, resource, compression, corsOrigins: origins, corsHeaders, log } = options;
  const vary = `Authorization, Origin${compression ? ', Accept-Encoding' : ''}`;
  const headers = [...corsHeaders, ...protocolHeaders];
  const handle = createMcpHandler({
    ...options,
    answer: createMethods({ ...options, isPrivate: authenticator !== undefined }),
    cors: createCors({ origins, headers, vary, isChallenging: authenticator !== undefined, hasBudget: false, log }),
    send: createSend({ compression, vary }),
    identify: authenticator && createIdentify(authenticator, 'agents'),
  });
  const metadata = resource?.metadataPaths.map((path) => [path, answerWith(resource.metadata)] as const) ?? [];
  return new Map([[mcpPath, handle], ...metadata]);
}

/** Answers with metadata, which anyone may read: it is where agents learn who issues tokens. */
function answerWith(body: string): McpHandler {
  return ({ method = '' }: IncomingMessage, response: ServerResponse) => {
    if (method !== 'GET' && method !== 'HEAD')
      return void response.writeHead(405, { allow: 'GET', ...answerHeaders }).end();
    const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*', ...answerHeaders };
    response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  };
}

/** The tools of each set of documents, made once. Throws a ManifestError if there is one that cannot be. */
export function createToolsOf(names: ToolNames, options: ToolOptions): (set: DocumentSet) => Tools {
  const known = new WeakMap<DocumentSet, Tools>();
  return (set) => {
    const tools = known.get(set) ?? toolsOf(set, names, options);
    known.set(set, tools);
    return tools;
  };
}
