import {
  getNamedType,
  TypeInfo,
  type ValueNode,
  type VariableNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { OperationScope } from '../look-ahead/selection-tree.ts';

/** The most values of a type that are collected. */
const mostValues = 10;

/** The literal texts and objects of an operation and its fragments, by the names of their types. */
export function literalsOf({
  schema,
  operation,
  fragments,
}: OperationScope): ReadonlyMap<string, ReadonlySet<unknown>> {
  const found = new Map<string, Set<unknown>>();
  const types = new TypeInfo(schema);
  const add = (node: ValueNode): void => {
    const type = types.getInputType();
    if (type === null || type === undefined || hasVariable(node)) return;
    const { name } = getNamedType(type);
    const values = found.get(name) ?? new Set();
    found.set(name, values);
    if (values.size < mostValues) values.add(valueFromASTUntyped(node));
  };
  const visitor = visitWithTypeInfo(types, { StringValue: add, IntValue: add, EnumValue: add, ObjectValue: add });
  for (const definition of [operation, ...Object.values(fragments)]) visit(definition, visitor);
  return found;
}

function hasVariable(node: ValueNode): boolean {
  const found: VariableNode[] = [];
  visit(node, { Variable: (variable) => void found.push(variable) });
  return found.length > 0;
}
