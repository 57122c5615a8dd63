import { type GraphQLResolveInfo, getNamedType, isObjectType } from 'graphql';
import type { GatewayContext } from '../context.ts';
import {
  type ConnectionArguments,
  type ConnectionSource,
  fetchConnection,
  fetchEvents,
  keyedConnection,
  type Wanted,
} from '../graphql/connections.ts';
import { answersScopes, wantedOf } from '../look-ahead/needs.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { selectionOf } from '../look-ahead/operation-trees.ts';
import type { ListRef } from '../rest/pages.ts';
import { current } from '../rest/paths.ts';
import { startIdScope } from './current-scope.ts';

/** The connection of a counted list. Reads no row if the selection wants none. */
export function listConnection(
  list: ListRef,
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> {
  return fetchConnection(context, list, args, begin(list, context, info));
}

/** The connection of all projects. A narrowed tenant gets the projects that it may reach, in the order of its entry. */
export function projectConnection(
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> | ConnectionSource {
  const list = { noun: 'Project', scope: '' } as const;
  const reach = context.tenant?.reach;
  if (reach === undefined) return listConnection(list, args, context, info);
  countAnswered(1, context, info);
  return keyedConnection(context, list, [...reach.projects], args);
}

/** The connection of a list of events. */
export function eventConnection(
  list: ListRef,
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> {
  return fetchEvents(context, list, args, begin(list, context, info));
}

/** Counts a connection for the answer. Returns the parts of it that the selection wants. */
function begin(list: ListRef, context: GatewayContext, info: GraphQLResolveInfo): Wanted {
  const type = getNamedType(info.returnType);
  if (!isObjectType(type)) throw new Error(`${info.fieldName} is no connection`);
  const selection = selectionOf(info).on(type);
  // The ids of rows below `@current` need its real id, which is read at the same time as the page.
  if (list.scope === current && answersScopes(selection)) startIdScope(list, context);
  countAnswered(1, context, info);
  return wantedOf(selection);
}
