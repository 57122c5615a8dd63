import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { QueryResolvers } from '../graphql/generated/resolvers.ts';
import { checkedIds, parseGlobalId, parseOwnerId } from '../graphql/ids.ts';
import type { OrganizationRecord, RowRecord } from '../graphql/records.ts';
import { fetchRecord, toError } from './by-id.ts';
import { listConnection } from './lists.ts';

/** Where operations begin. Ids are checked before anything is sent. */
export const Query: QueryResolvers = {
  node: (_root, { id }, context, info) => fetchNode(id, 'id', context, info),
  // An item that fails is an Error in its place; the others keep their data.
  nodes: (_root, { ids }, context, info) =>
    checkedIds(ids, context.maxPageSize).map(async (id) => fetchNode(id, 'ids', context, info).catch(toError)),
  projects: (_root, args, context, info) => listConnection({ kind: 'Project', scope: '' }, args, context, info),
  project: (_root, { id }, context, info) =>
    fetchRecord({ kind: 'Project', scope: '', id: parseOwnerId('Project', id, 'id') }, 'unknown', context, info),
  organization: (_root, { id }) => ({ kind: 'Organization', id: parseOwnerId('Organization', id, 'id') }),
};

async function fetchNode(
  globalId: string,
  argument: string,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<RowRecord | OrganizationRecord | null> {
  const { type, scope, id } = parseGlobalId(globalId, argument);
  if (type === 'Organization') return { kind: type, id };
  return fetchRecord({ kind: type, scope, id }, 'unknown', context, info);
}
