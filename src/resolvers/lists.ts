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
import { answeredWeight } from '../look-ahead/object-weight.ts';
import { scopeOf, selectedFields } from '../look-ahead/selection.ts';
import type { ListRef } from '../rest/pages.ts';
import { current } from '../rest/paths.ts';
import { startIdScope } from './current-scope.ts';

/** The connection of a counted list, reading no row if the selection wants none. */
export function listConnection(
  list: ListRef,
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> {
  startScope(list, context, info);
  context.answer.take(1, answeredWeight(info), info.path);
  return fetchConnection(context, list, args, wanted(info));
}

/** The connection of all projects: of those that a narrowed tenant may reach, in the order of its entry. */
export function projectConnection(
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> | ConnectionSource {
  const list = { noun: 'Project', scope: '' } as const;
  const reach = context.tenant?.reach;
  if (reach === undefined) return listConnection(list, args, context, info);
  context.answer.take(1, answeredWeight(info), info.path);
  return keyedConnection(context, list, [...reach.projects], args);
}

/** The connection of a list of events. */
export function eventConnection(
  list: ListRef,
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> {
  startScope(list, context, info);
  context.answer.take(1, answeredWeight(info), info.path);
  return fetchEvents(context, list, args, wanted(info));
}

/** Ids of rows below `@current` need its real id; it is read beside the page. */
function startScope(list: ListRef, context: GatewayContext, info: GraphQLResolveInfo): void {
  if (list.scope !== current) return;
  const type = getNamedType(info.returnType);
  if (isObjectType(type) && answersScopes(type, info.fieldNodes, scopeOf(info))) startIdScope(list, context);
}

function wanted(info: GraphQLResolveInfo): Wanted {
  const type = getNamedType(info.returnType);
  return isObjectType(type) ? wantedOf(selectedFields(type, info.fieldNodes, scopeOf(info))) : 'page';
}
