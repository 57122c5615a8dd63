import { type GraphQLResolveInfo, getNamedType } from 'graphql';
import type { GatewayContext } from '../context.ts';
import {
  type ConnectionArguments,
  type ConnectionSource,
  connectionOfIds,
  type EdgeSource,
  fetchConnection,
  fetchEvents,
} from '../graphql/connections.ts';
import type {
  EventConnectionResolvers,
  PageInfo,
  PluginConnectionResolvers,
  ProjectEdgeResolvers,
} from '../graphql/generated/resolvers.ts';
import { type RowRecord, toRecord } from '../graphql/records.ts';
import { positionAfter } from '../loaders/list-pages.ts';
import { answersOwnerIds, wantedOf } from '../look-ahead/needs.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { selectionOf } from '../look-ahead/operation-trees.ts';
import type { ListRef } from '../rest/pages.ts';
import { current } from '../rest/paths.ts';
import type { Row } from '../rest/values.ts';
import { fetchRecord, listedRecords } from './by-id.ts';
import { prefetchOwnerId } from './current-owner.ts';

/** The connection of a list. Reads no row if the selection wants none. */
export function listConnection(
  list: ListRef,
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> {
  const selection = selectionOf(info).onNamed(getNamedType(info.returnType).name);
  // The ids of rows below `@current` need its real id, which is read at the same time as the page.
  if (list.scope === current && answersOwnerIds(selection)) prefetchOwnerId(list, context);
  countAnswered(1, context, info);
  const fetch = list.noun === 'Event' ? fetchEvents : fetchConnection;
  return fetch(context, list, args, wantedOf(selection));
}

/**
 * The connection of all projects. With limited reach, it has the projects that the caller may reach, in the order of
 * the caller's entry.
 */
export function projectConnection(
  args: ConnectionArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ConnectionSource> | ConnectionSource {
  const list = { noun: 'Project', scope: '' } as const;
  const reach = context.rights?.reach;
  if (reach === undefined) return listConnection(list, args, context, info);
  countAnswered(1, context, info);
  return connectionOfIds(context, list, [...reach.projects], args);
}

/** The fields that every connection has. */
export const Connection = {
  edges: (source: ConnectionSource, _args: object, context: GatewayContext, info: GraphQLResolveInfo): EdgeSource[] => {
    countRows(source, context, info);
    return source.page.rows.map((_row, index) => ({ source, index }));
  },
  nodes: (source: ConnectionSource, _args: object, context: GatewayContext, info: GraphQLResolveInfo) => {
    countRows(source, context, info);
    return recordsOf(source, source.page.rows, context, info);
  },
  pageInfo: (source: ConnectionSource, _args: object, context: GatewayContext): PageInfo => ({
    hasNextPage: source.hasNext,
    hasPreviousPage: source.hasPrevious,
    startCursor: countCursor(source, 0, context),
    endCursor: countCursor(source, source.page.rows.length - 1, context),
  }),
} satisfies EventConnectionResolvers;

/** A connection over a list that the upstream counts. */
export const CountedConnection = {
  ...Connection,
  totalCount: ({ page }: ConnectionSource): number | null => page.count ?? null,
} satisfies PluginConnectionResolvers;

/** One edge of any connection. */
export const Edge = {
  cursor: ({ source, index }: EdgeSource, _args: object, context: GatewayContext): string =>
    countCursor(source, index, context) ?? '',
  node: ({ source, index }: EdgeSource, _args: object, context: GatewayContext, info: GraphQLResolveInfo) =>
    recordsOf(source, source.page.rows.slice(index, index + 1), context, info)[0] ?? null,
} satisfies ProjectEdgeResolvers;

/** The records of rows of a page. If the rows are only ids, each object is read by its key; null if it is gone. */
function recordsOf(
  { list, page, hasOnlyIds = false }: ConnectionSource,
  rows: readonly Row[],
  context: GatewayContext,
  info: GraphQLResolveInfo,
): (RowRecord | Promise<RowRecord | null>)[] {
  if (!hasOnlyIds) return listedRecords(list, rows, context, info, page.rows);
  return rows.map((row) => fetchRecord(toRecord(list, { row }).key, 'unknown', context, info, true));
}

function countRows({ list, page }: ConnectionSource, context: GatewayContext, info: GraphQLResolveInfo): void {
  countAnswered(page.rows.length, context, info, list.scope.length);
}

/** The cursor of row `index`; null if the page has no such row. */
function countCursor({ list, page }: ConnectionSource, index: number, context: GatewayContext): string | null {
  if (index < 0 || index >= page.rows.length) return null;
  const cursor = context.cursors.encode(list, positionAfter(page, index));
  context.answerCounter.addText(cursor);
  return cursor;
}
