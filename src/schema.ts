import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeExecutableSchema } from '@graphql-tools/schema';
import {
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import { attachColumns } from './graphql/columns.ts';
import { attachStarted } from './plan/starting.ts';
import { resolvers } from './resolvers/resolvers.ts';

const folder = join(import.meta.dirname, '../schema');

/** The public schema with what answers it. Throws where a field has neither a resolver nor a REST column. */
export function createSchema(): GraphQLSchema {
  const typeDefs = globSync('*.graphql', { cwd: folder })
    .toSorted()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const schema = makeExecutableSchema({
    typeDefs,
    resolvers,
    resolverValidationOptions: { requireResolversToMatchSchema: 'error' },
  });
  attachColumns(schema);
  attachStarted(schema);
  return schema;
}

/**
 * The same schema for compiled operations: results of our own scalars pass as they are, because columns have checked
 * their values and nothing else answers them. Not for validation or introspection.
 */
export function createCompilerSchema(): GraphQLSchema {
  const schema = createSchema();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) field.type = passingOn(field.type);
  }
  return schema;
}

function passingOn(type: GraphQLOutputType): GraphQLOutputType {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return sameNullability(type, new GraphQLList(passingOn(nullable.ofType)));
  return isScalarType(nullable) && !isSpecifiedScalarType(nullable) ? sameNullability(type, GraphQLString) : type;
}

function sameNullability(
  type: GraphQLOutputType,
  plain: GraphQLScalarType | GraphQLList<GraphQLOutputType>,
): GraphQLOutputType {
  return isNonNullType(type) ? new GraphQLNonNull(plain) : plain;
}
