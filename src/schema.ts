import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeExecutableSchema } from '@graphql-tools/schema';
import type { GraphQLSchema } from 'graphql';
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
