import { type GraphQLResolveInfo, getNamedType, isObjectType } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { type ConnectionArguments, type ConnectionSource, fetchConnection } from '../graphql/connections.ts';
import { needsRows } from '../plan/needs.ts';
import { scopeOf, selectedFields } from '../plan/selection.ts';
import type { ListRef } from '../rest/pages.ts';

/** The connection of a counted list, reading no row where the selection only wants the count. */
export async function listConnection(
  list: ListRef,
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> {
  const type = getNamedType(info.returnType);
  const countOnly = isObjectType(type) && !needsRows(selectedFields(type, info.fieldNodes, scopeOf(info)));
  return fetchConnection(context, list, args, countOnly);
}
