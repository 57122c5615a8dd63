import { memoize } from '../memoize.ts';
import type { ToolOf } from '../operation/cost.ts';
import type { DocumentSet } from '../operation/persisted/document-set.ts';
import { createMcpHandler, type McpHandler, type McpOptions } from './handler.ts';
import { answerMetadata, mcpPath, type ProtectedResource, protectedResourceOf } from './protected-resource.ts';
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
  readonly serve: (options: McpOptions, documents: () => DocumentSet) => ReadonlyMap<string, McpHandler>;
}

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
    serve: (edge, documents) => {
      const { metadataPaths = [], metadata = '' } = resource ?? {};
      const handlers = new Map<string, McpHandler>();
      handlers.set(mcpPath, createMcpHandler({ ...edge, tools: () => toolsIn(documents()), resource, publicUrl }));
      for (const path of metadataPaths)
        handlers.set(path, (request, response) => answerMetadata(metadata, request, response));
      return handlers;
    },
  };
}
