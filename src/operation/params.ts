import { hash } from 'node:crypto';
import { getVariableValues, type OperationDefinitionNode, type VariableValues } from 'graphql';
import type { JsonObject } from '../rest/values.ts';
import type { ExecuteOptions } from './execute.ts';
import { RefusedDocument } from './request-error.ts';

/**
 * The parameters of a request, the same for every transport (GraphQL over HTTP §5). Unknown members are dropped: a
 * request may wait for seconds, and a parsed body takes up to 25 times its size.
 */
export interface GraphQLParams {
  readonly query: string | undefined;
  /** As they were sent, until `keepDeclared` drops those that the operation does not declare. */
  variables: JsonObject | undefined;
  readonly operationName: string | undefined;
  /** `cost`, `explain` and `persistedQuery`. */
  readonly extensions: JsonObject | undefined;
  readonly ids: JsonObject;
}

/** True if a client asks for the plan of an operation. Nothing is executed then, even if there is no plan. */
export function asksForPlan({ extensions }: GraphQLParams): boolean {
  return extensions?.['explain'] === 'plan';
}

/**
 * The members of a request that may hold an id. `documentId` comes from GraphQL over HTTP, appendix A (graphql-codegen,
 * urql); network layers for Relay usually send the others (https://relay.dev/docs/guides/persisted-queries/).
 */
export const idMembers = ['documentId', 'doc_id', 'id', 'documentID'] as const;

/**
 * Drops the variables that an operation does not declare. They would be kept for as long as the operation waits.
 * Returns the others as JSON. Variables with equal texts are equal.
 */
export function keepDeclared(params: GraphQLParams, { variableDefinitions = [] }: OperationDefinitionNode): string {
  const { variables } = params;
  if (variables === undefined || variableDefinitions.length === 0) {
    params.variables = undefined;
    return '';
  }
  const declared = variableDefinitions.map(({ variable }) => variable.name.value);
  if (!Object.keys(variables).every((name) => declared.includes(name))) {
    const kept = declared.filter((name) => Object.hasOwn(variables, name));
    params.variables = Object.fromEntries(kept.map((name) => [name, variables[name]]));
  }
  const text = JSON.stringify(params.variables);
  return text.includes('null') ? JSON.stringify(params.variables, keepInfinite) : text;
}

/** The most coercion errors that are reported. Each quotes a whole value, which may have a megabyte. */
const mostErrors = 5;

/** The coerced variables of an operation that declares none. */
export const noVariables: VariableValues = { sources: {}, coerced: {} };

/** The coerced variables of an operation. Throws a RefusedDocument if they do not fit. */
export function coercedVariables(
  { schemas: { schema }, introspection }: Pick<ExecuteOptions, 'schemas' | 'introspection'>,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: GraphQLParams['variables'] = {},
): VariableValues {
  if (variableDefinitions.length === 0) return noVariables;
  const options = { maxErrors: mostErrors, hideSuggestions: !introspection };
  const { variableValues, errors } = getVariableValues(schema, variableDefinitions, given, options);
  if (variableValues === undefined) throw new RefusedDocument(errors);
  return variableValues;
}

/** The longest text that serves as its own name. Waiting operations keep only the hash of a longer one. */
const longestName = 500;

/** A short name of a text of variables. Equal texts have equal names. */
export function shortName(text: string): string {
  return text.length <= longestName ? text : hash('sha256', text, 'base64url');
}

/** Writes an infinite number as a number beyond the range of doubles, as the client sent it. JSON would write null. */
function keepInfinite(_name: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return JSON.rawJSON('1e999');
  return value === Number.NEGATIVE_INFINITY ? JSON.rawJSON('-1e999') : value;
}
