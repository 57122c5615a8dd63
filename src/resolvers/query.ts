import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { QueryResolvers } from '../graphql/generated/resolvers.ts';
import { checkedIds, parseGlobalId, parseOwnerId } from '../graphql/ids.ts';
import { refuseCurrent } from '../graphql/reach-refusals.ts';
import type { OrganizationRecord, RowRecord } from '../graphql/records.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { toError } from '../rest/errors.ts';
import { fetchRecord } from './by-id.ts';
import { projectConnection } from './list-fields.ts';
import { organizationRecord } from './organization.ts';

/** The fields of a query. Ids are checked before anything is sent. */
export const Query: QueryResolvers = {
  node: (_root, { id }, context, info) => fetchNode(id, 'id', context, info),
  // An item that fails is an Error in its place. The others keep their data.
  nodes: (_root, { ids }, context, info) =>
    checkedIds(ids, context.maxPageSize).map((id) => fetchNode(id, 'ids', context, info).catch(toError)),
  projects: (_root, args, context, info) => projectConnection(args, context, info),
  project: (_root, { id }, context, info) =>
    fetchRecord({ noun: 'Project', scope: '', id: ownerId('Project', id, context) }, 'unknown', context, info),
  organization: (_root, { id }, context) => organizationRecord({ id: ownerId('Organization', id, context) }, context),
};

function ownerId(type: 'Project' | 'Organization', id: string, { rights }: GatewayContext): string {
  refuseCurrent(rights?.reach, id, 'id');
  return parseOwnerId(type, id, 'id');
}

async function fetchNode(
  globalId: string,
  argument: string,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<RowRecord | OrganizationRecord | null> {
  const { type, scope, id } = parseGlobalId(globalId, argument);
  if (type === 'Organization') {
    countAnswered(1, context, info, id.length, type);
    return organizationRecord({ id }, context);
  }
  return fetchRecord({ noun: type, scope, id }, 'unknown', context, info);
}
