import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from '../auth/authenticator.ts';
import { createCors } from '../http/cors.ts';
import { createIdentify } from '../http/identify.ts';
import type { BodyLimits } from '../http/request.ts';
import { answerHeaders } from '../http/response.ts';
import { createSend } from '../http/send.ts';
import type { Log } from '../log.ts';
import { memoize } from '../memoize.ts';
import type { MemoryRoom } from '../memory.ts';
import type { ToolOf } from '../operation/cost.ts';
import type { DocumentSet } from '../operation/persisted/document-set.ts';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import { type CallOptions, type CallResult } from './call.ts';
import { createMcpHandler, type McpHandler, type McpHandlerOptions, type OriginOptions } from './handler.ts';
import { createMethods, type MethodOptions } from './methods.ts';
import { mcpPath, type ProtectedResource, protectedResourceOf } from './protected-resource.ts';
import type { ToolOptions } from './tool.ts';
import { createToolOf, type ToolNames, toolsOf } from './tools.ts';

/** The settings of the endpoint for agents. */
export interface McpConfig {
  readonly tools: ToolNames;
  /** The URL under which clients reach the gateway; undefined if they are on this machine. */
  readonly publicUrl: string | undefined;
}

/** The part of a gateway that serves agents: listed documents as tools. */
export interface Agents {
  /** Throws a ManifestError if the tools of a set of documents cannot be made. */
  readonly check: (set: DocumentSet) => void;
  /** The protected resource that tokens are issued for; undefined if there is none. */
  readonly resource: ProtectedResource | undefined;
  /** Makes the function that finds the tool of an operation. */
  readonly toolOf: (documents: () => DocumentSet) => ToolOf;
  /** Makes the handlers of requests, by path. */
  readonly serve: (options: McpOptions) => ReadonlyMap<string, McpHandler>;
}

/** Collaborators and settings of the endpoint for agents. */
export interface McpOptions extends CallOptions, Pick<OriginOptions, 'corsOrigins'> {
  readonly documents: () => DocumentSet;
  /** Authenticates agents by their tokens; undefined if they send keys. */
  readonly authenticator: Authenticator | undefined;
  readonly corsHeaders?: readonly string[];
  readonly compression?: boolean;
  readonly bodyLimits: BodyLimits;
  readonly bodyRoom: MemoryRoom;
  readonly onCall: (tool: string, result: CallResult) => void;
  readonly refused: CountRefused;
  readonly report: (error: unknown) => void;
  readonly log: Log;
}

/** Headers that the protocol requires in requests. */
const protocolHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id'];

/**
 * Makes the part for agents, with listed documents as tools. `issuer` issues the tokens of agents; undefined if they
 * send keys.
 */
export function createAgents({ tools: names, publicUrl }: McpConfig, options: ToolOptions, issuer?: string): Agents {
  const toolsIn = memoize((set: DocumentSet) => toolsOf(set, names, options));
  const resource = issuer !== undefined && publicUrl !== undefined ? protectedResourceOf(publicUrl, issuer) : undefined;
  return {
    check: toolsIn,
    resource,
    toolOf: (documents) => createToolOf(documents, toolsIn),
    serve: (edge) => serve(edge, { tools: () => toolsIn(edge.documents()), resource, publicUrl }),
  };
}

function serve(
  options: McpOptions,
  own: Pick<MethodOptions, 'tools'> & Pick<McpHandlerOptions, 'resource' | 'publicUrl'>,
): ReadonlyMap<string, McpHandler> {
  const { authenticator, compression = false, corsOrigins: origins, corsHeaders = [], log } = options;
  const vary = `Authorization, Origin${compression ? ', Accept-Encoding' : ''}`;
  const headers = [...corsHeaders, ...protocolHeaders];
  const handle = createMcpHandler({
    ...options,
    ...own,
    answer: createMethods({ ...options, ...own, isPrivate: authenticator !== undefined }),
    cors: createCors({ origins, headers, vary, isChallenging: authenticator !== undefined, hasBudget: false, log }),
    send: createSend({ compression, vary }),
    identify: authenticator && createIdentify(authenticator, 'agents'),
  });
  const { resource } = own;
  const metadata = resource?.metadataPaths.map((path) => [path, answerWith(resource.metadata)] as const) ?? [];
  return new Map([[mcpPath, handle], ...metadata]);
}

/**
 * Makes the handler that answers with the metadata from which agents learn the issuer of tokens. Pages of any origin
 * may read it, and may send the headers of the protocol.
 */
function answerWith(body: string): McpHandler {
  const headers = { 'access-control-allow-origin': '*', ...answerHeaders };
  return ({ method = '' }: IncomingMessage, response: ServerResponse) => {
    if (method === 'OPTIONS')
      return void response
        .writeHead(204, { ...headers, 'access-control-allow-headers': protocolHeaders.join(', ') })
        .end();
    if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET', ...headers }).end();
    const content = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    response.writeHead(200, { ...headers, ...content }).end(body);
  };
}
