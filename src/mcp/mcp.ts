import { ConfigError } from '../config-error.ts';
import type { Handle } from '../http/handle.ts';
import { memoize } from '../memoize.ts';
import type { ToolOf } from '../operation/cost.ts';
import type { PreparedOperation } from '../operation/document.ts';
import { type DocumentSet, isTextOf, type ListedDocument } from '../operation/persisted/document-set.ts';
import { createMcpHandler, type McpOptions } from './handler.ts';
import { answerMetadata, mcpPath, type ProtectedResource, protectedResourceOf } from './protected-resource.ts';
import { Tool, type ToolOptions, type Tools } from './tool.ts';

/** The names of operations that are tools, as in `MCP_TOOLS`. `*` stands for every query that has a name. */
export type ToolNames = readonly string[];

export interface McpConfig {
  readonly tools: ToolNames;
  /** The URL under which clients reach the gateway; undefined if they are on this machine. */
  readonly publicUrl: string | undefined;
}

/** The part of a gateway that serves agents: listed documents as tools. */
export interface Agents {
  /** Throws a ConfigError if the tools of a set of documents cannot be made. */
  readonly check: (set: DocumentSet) => void;
  /** The protected resource that tokens are issued for; undefined if there is none. */
  readonly resource: ProtectedResource | undefined;
  /**
   * Makes the function that finds the tool of an operation. The function returns undefined if the caller may not run
   * the tool.
   */
  readonly toolOf: (documents: () => DocumentSet) => ToolOf;
  readonly serve: (options: McpOptions, documents: () => DocumentSet) => ReadonlyMap<string, Handle>;
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
    toolOf: (documents) => (name, text, caller) => {
      const set = documents();
      const tool = toolsIn(set).get(name);
      const listed = tool && set.byId.get(tool.documentId);
      if (listed === undefined || !isTextOf(listed, text) || !tool?.isFor(caller)) return undefined;
      return { name, cost: tool.costLineFor(caller) };
    },
    serve: (edge, documents) => {
      const { metadataPaths = [], metadata = '' } = resource ?? {};
      const handlers = new Map<string, Handle>();
      handlers.set(mcpPath, createMcpHandler({ ...edge, tools: () => toolsIn(documents()), resource, publicUrl }));
      for (const path of metadataPaths)
        handlers.set(path, (request, response) => answerMetadata(metadata, request, response));
      return handlers;
    },
  };
}

interface NamedOperation {
  readonly document: ListedDocument;
  readonly prepared: PreparedOperation;
}

/**
 * The tools among the documents of a set. Throws a ConfigError if a name is unknown, names a subscription, or names
 * several operations that differ.
 */
function toolsOf(set: DocumentSet, names: ToolNames, options: ToolOptions): Tools {
  const operations = operationsIn(set);
  const wanted = new Set(names.filter((name) => name !== '*'));
  if (names.includes('*'))
    for (const [name, [first]] of operations) if (first?.prepared.operation.operation === 'query') wanted.add(name);
  const tools = [...wanted].toSorted(compareTexts).map((name): [string, Tool] => {
    const { document, prepared } = uniqueOperation(name, operations.get(name) ?? []);
    return [name, new Tool(name, document.id, prepared, options)];
  });
  return new Map(tools);
}

/** Compares texts without a locale, so that the order is the same everywhere. */
function compareTexts(one: string, other: string): number {
  return one < other ? -1 : 1;
}

function uniqueOperation(name: string, found: readonly NamedOperation[]): NamedOperation {
  const [only, other] = found;
  if (only === undefined)
    throw new ConfigError(
      `MCP_TOOLS: expected ${name} to be an operation of a listed document that is valid, but there is none`,
    );
  if (other !== undefined) {
    const files = [...new Set(found.map(({ document: { file } }) => file))].join(' and ');
    throw new ConfigError(`MCP_TOOLS: expected one operation ${name}, but ${files} have ${found.length} that differ`);
  }
  if (only.prepared.operation.operation === 'subscription')
    throw new ConfigError(`MCP_TOOLS: expected ${name} to be a query or a mutation, but it is a subscription`);
  return only;
}

/** The operations of valid documents by their names; one document under several ids counts once. */
function operationsIn({ byText: documents }: DocumentSet): ReadonlyMap<string, readonly NamedOperation[]> {
  const found = new Map<string, NamedOperation[]>();
  const distinct = new Map([...documents.values()].map((document) => [document.bare, document]));
  for (const document of distinct.values()) {
    for (const prepared of document.operations) {
      const name = prepared.operation.name?.value;
      if (name !== undefined) found.set(name, [...(found.get(name) ?? []), { document, prepared }]);
    }
  }
  return found;
}
