import { hash } from 'node:crypto';
import { type GraphQLSchema, getVariableValues, type OperationDefinitionNode, type VariableValues } from 'graphql';
import type { GraphQLParams } from './params.ts';

/** Drops the variables that an operation does not declare: nothing reads them, and the operation may wait for long. */
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

/** The coerced variables of an operation; undefined if they do not fit, and nothing will be executed. */
export function coercedVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): VariableValues | undefined {
  return getVariableValues(schema, variableDefinitions, given, { maxErrors: 1 }).variableValues;
}

/** Longer texts are named by their hash, so that no operation that waits keeps them. */
const longestName = 500;

/** A short name of variables, from their text: equal for equal ones. */
export function shortName(text: string): string {
  return text.length <= longestName ? text : hash('sha256', text, 'base64url');
}

/** Variables as JSON: equal for equal ones. */
export function variablesTextOf(variables: GraphQLParams['variables']): string {
  if (variables === undefined) return '';
  const text = JSON.stringify(variables);
  return text.includes('null') ? JSON.stringify(variables, keepInfinite) : text;
}

/** A number beyond all doubles is read as an infinite one, which would be written as null. */
function keepInfinite(_name: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return JSON.rawJSON('1e999');
  return value === Number.NEGATIVE_INFINITY ? JSON.rawJSON('-1e999') : value;
}
