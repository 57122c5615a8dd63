import { type GraphQLField, type GraphQLFieldResolver, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { parseGlobalId, parseOwnerId } from '../graphql/ids.ts';
import { UserInputError } from '../graphql/input-error.ts';
import { mutationReach } from '../graphql/reach-refusals.ts';
import { current } from '../rest/paths.ts';
import { originOf } from './field-origins.ts';
import { selectionOf } from './operation-trees.ts';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Makes root fields that need REST calls fail before their resolvers run, if the context says why no call can succeed.
 * A mutation that the caller may not run fails in the same way.
 */
export function attachRefusals(schema: GraphQLSchema): void {
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    if (type === null || type === undefined) continue;
    for (const field of Object.values(type.getFields()))
      if (field.resolve !== undefined) field.resolve = refusing(field, field.resolve);
  }
}

function refusing(
  field: GraphQLField<unknown, unknown>,
  resolve: GraphQLFieldResolver<unknown, GatewayContext>,
): GraphQLFieldResolver<unknown, GatewayContext> {
  return (source, args: Arguments, context, info) => {
    const { keyFault, rights } = context;
    if (rights !== undefined && info.operation.operation === 'mutation') mutationReach(rights, field.name);
    if (keyFault !== undefined && wouldCall(field, args, info)) throw keyFault;
    return resolve(source, args, context, info);
  };
}

function wouldCall(field: GraphQLField<unknown, unknown>, args: Arguments, info: GraphQLResolveInfo): boolean {
  const { kind } = originOf(field);
  if (kind === 'organization') return organizationCalls(args['id'], info);
  if (kind === 'node') return idsOf(args).some((id) => nodeCalls(id, info));
  if (kind === 'byId') return unlessRefused(() => parseOwnerId('Project', String(args['id']), 'id')) !== undefined;
  return kind !== 'free';
}

/** The distinct ids. A list may have one id thousands of times. */
function idsOf({ id, ids }: Arguments): readonly unknown[] {
  return Array.isArray(ids) ? [...new Set<unknown>(ids)] : [id];
}

function nodeCalls(id: unknown, info: GraphQLResolveInfo): boolean {
  const nodeId = unlessRefused(() => parseGlobalId(String(id), 'id'));
  if (nodeId === undefined) return false;
  return nodeId.type !== 'Organization' || organizationCalls(nodeId.id, info);
}

/** A parsed id; undefined for a text that is no id, which the resolver refuses without a call. */
function unlessRefused<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof UserInputError) return undefined;
    throw error;
  }
}

/**
 * True if the selection on an organization needs a call. `__typename` needs none. The ids need none, unless the client
 * gave `@current` as the id. Every other field needs one.
 */
function organizationCalls(id: unknown, info: GraphQLResolveInfo): boolean {
  const { fields } = selectionOf(info).onNamed('Organization');
  return fields.some(({ origin }) => id === current || origin.kind !== 'free');
}
