import { hash } from 'node:crypto';
import { getVariableValues, type OperationDefinitionNode, type VariableValues } from 'graphql';
import type { ExecutionOptions } from './execute.ts';
import type { GraphQLParams } from './params.ts';
import { RefusedDocument } from './request-error.ts';

/**
 * Drops the variables that an operation does not declare. They are never read, and would be kept for as long as the
 * operation waits.
 */
export function keepDeclared(params: GraphQLParams, { variableDefinitions = [] }: OperationDefinitionNode): void {
  const { variables } = params;
  if (variables === undefined) return;
  const declared = variableDefinitions.map(({ variable }) => variable.name.value);
  if (Object.keys(variables).every((name) => declared.includes(name))) return;
  const kept = declared
    .filter((name) => Object.hasOwn(variables, name))
    .map((name) => [name, variables[name]] as const);
  params.variables = Object.fromEntries(kept);
}

/** The most coercion errors that are reported. Each of them quotes a whole value, which may have a megabyte. */
const mostErrors = 5;

/** The coerced variables of an operation. Throws a RefusedDocument if they do not fit. */
export function coercedVariables(
  { schemas: { schema }, introspection }: Pick<ExecutionOptions, 'schemas' | 'introspection'>,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: GraphQLParams['variables'] = {},
): VariableValues {
  const options = { maxErrors: mostErrors, hideSuggestions: !introspection };
  const { variableValues, errors } = getVariableValues(schema, variableDefinitions, given, options);
  if (variableValues === undefined) throw new RefusedDocument(errors);
  return variableValues;
}

/**
 * The longest text that is used as its own name. Longer texts are named by their hash, so that waiting operations do
 * not keep the texts.
 */
const longestName = 500;

/** A short name of a text of variables. Equal texts have equal names. */
export function shortName(text: string): string {
  return text.length <= longestName ? text : hash('sha256', text, 'base64url');
}

/** Variables as JSON. Equal variables have equal texts. */
export function variablesTextOf(variables: GraphQLParams['variables']): string {
  if (variables === undefined) return '';
  const text = JSON.stringify(variables);
  return text.includes('null') ? JSON.stringify(variables, keepInfinite) : text;
}

/** Writes an infinite number as a number beyond the range of doubles, as it was read. JSON would write null. */
function keepInfinite(_name: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return JSON.rawJSON('1e999');
  return value === Number.NEGATIVE_INFINITY ? JSON.rawJSON('-1e999') : value;
}
