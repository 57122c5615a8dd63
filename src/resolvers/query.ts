import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { QueryResolvers } from '../graphql/generated/resolvers.ts';
import { checkedIds, parseGlobalId, parseOwnerId } from '../graphql/ids.ts';
import { refuseCurrent } from '../graphql/narrowing.ts';
import type { OrganizationRecord, RowRecord } from '../graphql/records.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { toError } from '../rest/errors.ts';
import { fetchRecord } from './by-id.ts';
import { projectConnection } from './connections.ts';
import { organizationRecord } from './organization.ts';

/** The fields of a query. Ids are checked before anything is sent. */
export const Query: QueryResolvers = {
  node: (_root, { id }, context, info) => fetchNode(id, 'id', context, info),
  nodes: (_root, { ids }, context, info) => fetchNodes(checkedIds(ids, context.maxPageSize), context, info),
  projects: (_root, args, context, info) => projectConnection(args, context, info),
  project: (_root, { id }, context, info) =>
    fetchRecord({ noun: 'Project', scope: '', id: ownerId('Project', id, context) }, 'unknown', context, info),
  organization: (_root, { id }, context) => organizationRecord({ id: ownerId('Organization', id, context) }, context),
};

function ownerId(type: 'Project' | 'Organization', id: string, { tenant }: GatewayContext): string {
  refuseCurrent(tenant?.reach, id, 'id');
  return parseOwnerId(type, id, 'id');
}

type NodeRecord = RowRecord | OrganizationRecord;

/**
 * Each id is fetched once, however often it stands in the list, and counts for the answer each time. An item that fails is
 * an Error in its place; others keep their data.
 */
function fetchNodes(
  ids: readonly string[],
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<NodeRecord | Error | null>[] {
  const found = new Map<string, ReturnType<typeof fetchNodes>[number]>();
  return ids.map((id) => {
    const known = found.get(id);
    if (known !== undefined) return known.then((node) => countedAgain(node, context, info)).catch(toError);
    const node = fetchNode(id, 'ids', context, info).catch(toError);
    found.set(id, node);
    return node;
  });
}

function countedAgain<T extends NodeRecord | Error | null>(
  node: T,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): T {
  if (node === null || node instanceof Error) return node;
  const owner = node.noun === 'Organization' ? node.id.length : node.scope.length + (node.knownId?.length ?? 0);
  countAnswered(1, context, info, owner, node.noun);
  return node;
}

async function fetchNode(
  globalId: string,
  argument: string,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<NodeRecord | null> {
  const { type, scope, id } = parseGlobalId(globalId, argument);
  if (type === 'Organization') {
    countAnswered(1, context, info, id.length, type);
    return organizationRecord({ id }, context);
  }
  return fetchRecord({ noun: type, scope, id }, 'unknown', context, info);
}
