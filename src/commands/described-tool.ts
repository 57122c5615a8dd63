import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { fragmentsOf } from '../look-ahead/selection-tree.ts';
import { Tool, type ToolDefinition } from '../mcp/tool.ts';
import type { PlainConfig } from '../settings/config.ts';

/** The tool that an operation is, as agents see it, and what makes it a poor one, one line each. */
export interface DescribedTool {
  readonly tool: ToolDefinition;
  readonly hints: readonly string[];
}

/** An operation that is none lacks this. */
export const neededOfTools = 'expected a query or a mutation with a name';

/** Describes a valid operation as a tool; undefined if it is none. */
export function describeTool(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  config: PlainConfig,
): DescribedTool | undefined {
  const { name } = operation;
  if (name === undefined || operation.operation === 'subscription') return undefined;
  const tool = new Tool(name.value, '', { fragments: fragmentsOf(document), operation }, { ...config, schema });
  return { tool: tool.definitionFor(undefined), hints: tool.hints };
}
