import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  isObjectType,
} from 'graphql';
import type { GatewayContext } from '../context.ts';
import { factsOf } from '../graphql/facts.ts';
import type { RowRecord, Started } from '../graphql/records.ts';
import type { Relation } from './needs.ts';
import { scopeOf } from './selection.ts';

/**
 * Starts the relations of an object whose key is known. Their resolvers run with a record that holds nothing but the
 * key; the fields themselves find the results on the record that their parent answers (see `attachStarted`).
 */
export function startRelations(
  type: GraphQLObjectType,
  relations: readonly Relation[],
  record: RowRecord,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Started {
  const started = new Map<string, Promise<unknown>>();
  for (const relation of relations) {
    const result = startRelation(type, relation, record, context, info);
    // Nobody may ask for it in the end.
    result.catch(() => undefined);
    started.set(relation.responseKey, result);
  }
  return started;
}

async function startRelation(
  type: GraphQLObjectType,
  { field, nodes, responseKey }: Relation,
  record: RowRecord,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const [node] = nodes;
  if (node === undefined) return undefined;
  const args = getArgumentValues(field, node, scopeOf(info).variableValues);
  const path = { prev: info.path, key: responseKey, typename: type.name };
  const childInfo = {
    ...info,
    fieldName: field.name,
    fieldNodes: nodes,
    returnType: field.type,
    parentType: type,
    path,
  };
  const resolve = field.resolve ?? defaultFieldResolver;
  return resolve(record, args, context, childInfo);
}

/** Lets every relation of a REST noun answer with what was started for it, and run its own resolver otherwise. */
export function attachStarted(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      const isRelation = factsOf(type, field).operation !== undefined && !isRoot(schema, type);
      if (isRelation && resolve !== undefined) field.resolve = preferStarted(resolve);
    }
  }
}

function isRoot(schema: GraphQLSchema, type: GraphQLObjectType): boolean {
  return type === schema.getQueryType() || type === schema.getMutationType();
}

function preferStarted(
  resolve: GraphQLFieldResolver<unknown, GatewayContext>,
): GraphQLFieldResolver<{ readonly started?: Started }, GatewayContext> {
  return (parent, args, context, info) =>
    parent.started?.get(String(info.path.key)) ?? resolve(parent, args, context, info);
}
