import type { GraphQLParams } from './params.ts';

/** Variables as text: equal for equal ones. */
export function textOf(variables: GraphQLParams['variables']): string {
  if (variables === undefined) return '';
  const text = JSON.stringify(variables);
  return text.includes('null') ? JSON.stringify(variables, keepInfinite) : text;
}

/** A number beyond all doubles is read as an infinite one, which would be written as null. */
function keepInfinite(_name: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return JSON.rawJSON('1e999');
  return value === Number.NEGATIVE_INFINITY ? JSON.rawJSON('-1e999') : value;
}
