import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { type ConnectionSource, cursorAt, type EdgeSource } from '../graphql/connections.ts';
import type {
  EventConnectionResolvers,
  PageInfo,
  PluginConnectionResolvers,
  ProjectEdgeResolvers,
} from '../graphql/generated/resolvers.ts';
import { listedRecords } from './by-id.ts';

/** The fields that every connection has. */
export const Connection = {
  edges: (source: ConnectionSource): EdgeSource[] => source.page.rows.map((_row, index) => ({ source, index })),
  nodes: ({ list, page }: ConnectionSource, _args: object, context: GatewayContext, info: GraphQLResolveInfo) =>
    listedRecords(list, page.rows, context, info),
  pageInfo: (source: ConnectionSource, _args: object, { cursors }: GatewayContext): PageInfo => ({
    hasNextPage: source.hasNext,
    hasPreviousPage: source.hasPrevious,
    startCursor: cursorAt(source, 0, cursors),
    endCursor: cursorAt(source, source.page.rows.length - 1, cursors),
  }),
} satisfies EventConnectionResolvers;

/** A connection over a list that the upstream counts. */
export const CountedConnection = {
  ...Connection,
  totalCount: ({ page }: ConnectionSource): number | null => page.count ?? null,
} satisfies PluginConnectionResolvers;

/** One edge of any connection. */
export const Edge = {
  cursor: ({ source, index }: EdgeSource, _args: object, { cursors }: GatewayContext): string =>
    cursorAt(source, index, cursors) ?? '',
  node: (
    { source: { list, page }, index }: EdgeSource,
    _args: object,
    context: GatewayContext,
    info: GraphQLResolveInfo,
  ) => listedRecords(list, page.rows.slice(index, index + 1), context, info, page.rows)[0] ?? null,
} satisfies ProjectEdgeResolvers;
