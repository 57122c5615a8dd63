import { type GraphQLOutputType, isEnumType, isLeafType, isListType, isNonNullType } from 'graphql';
import { conditionsOf, rootOf } from '../look-ahead/operation-trees.ts';
import type { ObjectSelection, OperationScope, SelectedField } from '../look-ahead/selection-tree.ts';
import { type JsonSchema, orNull } from './json-schema.ts';

export function outputSchemaOf(scope: OperationScope): JsonSchema {
  const isCertain = conditionsOf(scope).length === 0;
  const root = rootOf(scope, isCertain ? {} : undefined);
  return root === undefined ? {} : objectSchema(root, isCertain);
}

/** The schema of an object. `isCertain` is true if the variables do not affect which fields are selected. */
function objectSchema({ fields, typenames }: ObjectSelection, isCertain: boolean): JsonSchema {
  const properties = [
    ...typenames.map((key): [string, JsonSchema] => [key, { type: 'string' }]),
    ...fields.map((selected): [string, JsonSchema] => [
      selected.responseKey,
      valueSchema(selected.field.type, selected, isCertain),
    ]),
  ];
  return {
    type: 'object',
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(isCertain && properties.length > 0 && { required: properties.map(([key]) => key) }),
  };
}

function valueSchema(type: GraphQLOutputType, selected: SelectedField, isCertain: boolean): JsonSchema {
  if (isNonNullType(type)) return bareSchema(type.ofType, selected, isCertain);
  return orNull(bareSchema(type, selected, isCertain));
}

function bareSchema(type: GraphQLOutputType, selected: SelectedField, isCertain: boolean): JsonSchema {
  if (isListType(type)) return { type: 'array', items: valueSchema(type.ofType, selected, isCertain) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (isLeafType(type)) return scalars[type.name] ?? { type: 'string' };
  const schemas = selected.possible.map((one) => objectSchema(one, isCertain));
  const different = [...new Map(schemas.map((one) => [JSON.stringify(one), one])).values()];
  const [only] = different;
  return different.length === 1 && only !== undefined ? only : { anyOf: different };
}

/** The schemas of scalars that are not texts. Texts have no format, because upstream texts are passed on unchecked. */
const scalars: Readonly<Record<string, JsonSchema>> = {
  Boolean: { type: 'boolean' },
  Float: { type: 'number' },
  Int: { type: 'integer' },
  JSON: {},
};
