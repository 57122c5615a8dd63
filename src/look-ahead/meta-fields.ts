import {
  type GraphQLField,
  type GraphQLObjectType,
  isObjectType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import {
  type Collecting,
  collectFields,
  inclusionOf,
  type SelectedField,
  type Selecting,
  type SelectionScope,
  type Which,
} from './selection.ts';

/** The fields `__schema` and `__type` that an operation selects, or with `possible` that it may select. */
export function introspectionFields(
  operation: OperationDefinitionNode,
  scope: SelectionScope,
  which: Which,
): readonly SelectedField[] {
  const type = scope.schema.getQueryType();
  if (operation.operation !== 'query' || !isObjectType(type)) return [];
  return collectFields(type, [operation], scope, { isIncluded: inclusionOf(which), fieldOf: metaField });
}

/** The fields `__typename` that nodes select on an object of a type. */
export function typenameFields(
  type: GraphQLObjectType,
  nodes: readonly Selecting[],
  scope: SelectionScope,
  which: Which,
): readonly SelectedField[] {
  const fieldOf: Collecting['fieldOf'] = (_type, name) =>
    name === TypeNameMetaFieldDef.name ? TypeNameMetaFieldDef : undefined;
  return collectFields(type, nodes, scope, { isIncluded: inclusionOf(which), fieldOf });
}

/** Whether a name is that of a field that reads the schema: `__schema` or `__type`. */
export function isIntrospection(name: string): boolean {
  return name === SchemaMetaFieldDef.name || name === TypeMetaFieldDef.name;
}

function metaField(_type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined {
  return [SchemaMetaFieldDef, TypeMetaFieldDef].find((field) => field.name === name);
}
