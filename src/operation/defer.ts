import {
  type DocumentNode,
  experimentalExecuteRootSelectionSet,
  GraphQLDeferDirective,
  type GraphQLError,
  Kind,
  legacyExecuteRootSelectionSet,
  type OperationDefinitionNode,
  type VariableValues,
  visit,
} from 'graphql';
import type { GatewayContext } from '../context.ts';
import { type ExecuteOptions, executionArgs } from './execute.ts';

/** One part of an answer, as graphql's executor makes it. */
export interface PartPayload {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLError[];
  /** Announces the fragments that will follow, by their ids. */
  readonly pending?: readonly object[];
  readonly incremental?: readonly PartEntry[];
  readonly completed?: readonly PartEntry[];
  readonly hasNext: boolean;
}

/** The data or errors of one deferred fragment at one place. */
export interface PartEntry {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLError[];
}

type WholeOrParts =
  | { readonly data?: unknown; readonly errors?: readonly GraphQLError[] }
  | { readonly initialResult: PartPayload; readonly subsequentResults: AsyncIterable<PartPayload> };

/** Runs an operation and delivers its deferred fragments later, in the format of `context.parts`. */
export type ExecuteInParts = (context: GatewayContext, variables: VariableValues) => Promise<WholeOrParts>;

/**
 * A document without `@defer`; the same object if it has none. The text is searched first, because few documents use
 * `@defer`.
 */
export function withoutDefer(text: string, document: DocumentNode): DocumentNode {
  if (!text.includes(GraphQLDeferDirective.name)) return document;
  // Returning null removes the node.
  const whole = visit(document, {
    Directive: ({ name }) => (name.value === GraphQLDeferDirective.name ? null : undefined),
  });
  if (whole === document) return document;
  // Selection trees are remembered by operation node. The two documents need different trees, so they must not share
  // such a node.
  const definitions = whole.definitions.map((one) => (one.kind === Kind.OPERATION_DEFINITION ? { ...one } : one));
  return { ...whole, definitions };
}

/**
 * Makes the function that executes an operation in parts; undefined if the operation is always answered as a whole.
 * Mutations are always answered as a whole, because the deferred fields of the first mutation would depend on whether
 * the second mutation has been executed.
 */
export function createExecuteInParts(
  { schemas: { incremental }, introspection }: ExecuteOptions,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ExecuteInParts | undefined {
  if (incremental === undefined || operation.operation !== 'query') return undefined;
  const options = { schema: incremental.partsSchema, hideSuggestions: !introspection, enableEarlyExecution: true };
  const args = executionArgs(options, document, operation);
  return async (contextValue, variableValues) => {
    const execute = contextValue.parts === 'v0.2' ? experimentalExecuteRootSelectionSet : legacyExecuteRootSelectionSet;
    return execute({ ...args, contextValue, variableValues });
  };
}
