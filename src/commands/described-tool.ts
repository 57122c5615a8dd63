import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { fragmentsOf } from '../look-ahead/selection-tree.ts';
import { Tool, type ToolDefinition } from '../mcp/tool.ts';
import type { PlainConfig } from '../settings/config.ts';

/** The tool of an operation as agents see it, with one line for each hint to improve it. */
export interface DescribedTool {
  readonly tool: ToolDefinition;
  readonly hints: readonly string[];
}

/** The requirement that an operation which is no tool does not meet. */
export const neededOfTools = 'expected a query or a mutation with a name';

/** Describes the tool of a valid operation; undefined if the operation is no tool. */
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
