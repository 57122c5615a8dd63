import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { GatewayContext } from '../context.ts';

/** Runs one prepared operation. */
export type Execute = (
  context: GatewayContext,
  variables: Readonly<Record<string, unknown>> | undefined,
) => Promise<ExecutionResult> | ExecutionResult;

/** What runs an operation of a valid document: graphql's own executor. */
export function createExecution(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Execute {
  const operationName = operation.name?.value;
  return (contextValue, variableValues) => execute({ schema, document, contextValue, variableValues, operationName });
}
