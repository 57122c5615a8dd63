import {
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { conditionsOf, rootOf } from '../look-ahead/operation-trees.ts';
import type { ObjectSelection, OperationScope, Selection } from '../look-ahead/selection-tree.ts';
import { type JsonSchema, orNull } from './json-schema.ts';

/** The schema of the data that an operation answers. */
export function outputSchemaOf(scope: OperationScope): JsonSchema {
  const isCertain = conditionsOf(scope).length === 0;
  const root = rootOf(scope, isCertain ? {} : undefined);
  return root === undefined ? {} : objectSchema(root, { schema: scope.schema, isCertain });
}

interface Scope {
  readonly schema: GraphQLSchema;
  /** True if the variables do not affect which fields are selected. */
  readonly isCertain: boolean;
}

function objectSchema({ fields, typenames }: ObjectSelection, scope: Scope): JsonSchema {
  const properties = [
    ...typenames.map((key): [string, JsonSchema] => [key, { type: 'string' }]),
    ...fields.map(({ responseKey, field, below }): [string, JsonSchema] => [
      responseKey,
      valueSchema(field.type, below, scope),
    ]),
  ];
  return {
    type: 'object',
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(scope.isCertain && properties.length > 0 && { required: properties.map(([key]) => key) }),
  };
}

function valueSchema(type: GraphQLOutputType, below: Selection, scope: Scope): JsonSchema {
  if (isNonNullType(type)) return bareSchema(type.ofType, below, scope);
  return orNull(bareSchema(type, below, scope));
}

function bareSchema(type: GraphQLOutputType, below: Selection, scope: Scope): JsonSchema {
  if (isListType(type)) return { type: 'array', items: valueSchema(type.ofType, below, scope) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (isLeafType(type)) return scalars[type.name] ?? { type: 'string' };
  const named = getNamedType(type);
  if (isObjectType(named)) return objectSchema(below.on(named), scope);
  const possible = isAbstractType(named) ? scope.schema.getPossibleTypes(named) : [];
  const schemas = possible.map((one) => objectSchema(below.on(one), scope));
  const different = [...new Map(schemas.map((one) => [JSON.stringify(one), one])).values()];
  const [only] = different;
  return different.length === 1 && only !== undefined ? only : { anyOf: different };
}

/** Texts have no format, because those of the upstream are passed on unchecked. */
const scalars: Readonly<Record<string, JsonSchema>> = {
  Boolean: { type: 'boolean' },
  Float: { type: 'number' },
  Int: { type: 'integer' },
  JSON: {},
};
