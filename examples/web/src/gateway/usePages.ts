import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import type { TypedDocumentString } from '../generated/graphql.ts';
import { execute, type GatewayError, idOf, type Result } from './execute.ts';

/** A page of a list: https://relay.dev/graphql/connections.htm */
export interface Connection<Node> {
  readonly nodes: readonly (Node | null)[] | null;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly totalCount?: number | null;
}

/** The pages of a list that have been read so far. */
export interface Pages<Node> {
  readonly nodes: readonly Node[];
  /** How many there are in all; undefined where the list does not tell. */
  readonly totalCount: number | undefined;
  /** What is missing of the rows that are there. */
  readonly failure: GatewayError | undefined;
  readonly query: UseInfiniteQueryResult;
}

/**
 * Reads a list page by page. The document takes the cursor of the page before as `$after`, and `connectionOf` finds the
 * list in its data. A page without a list fails; one of which only something is missing is kept.
 */
export function usePages<Data, Variables extends object, Node>(
  document: TypedDocumentString<Data, Variables & { after?: string | null | undefined }>,
  variables: Variables,
  connectionOf: (data: Data) => Connection<Node> | null | undefined,
): Pages<Node> {
  const query = useInfiniteQuery<Result<Data>, Error, InfiniteData<Result<Data>>, readonly unknown[], string | null>({
    queryKey: [idOf(document), variables],
    queryFn: async ({ pageParam, signal }) => {
      const result = await execute(document, { ...variables, after: pageParam }, signal);
      if (result.failure !== undefined && !connectionOf(result.data)) throw result.failure;
      return result;
    },
    initialPageParam: null,
    getNextPageParam: ({ data }) => {
      const pageInfo = connectionOf(data)?.pageInfo;
      return pageInfo?.hasNextPage ? pageInfo.endCursor : null;
    },
  });
  const pages = query.data?.pages ?? [];
  const connections = pages.map(({ data }) => connectionOf(data));
  return {
    nodes: connections.flatMap((connection) => connection?.nodes ?? []).filter((node) => node !== null),
    totalCount: connections.at(-1)?.totalCount ?? undefined,
    failure: pages.find(({ failure }) => failure !== undefined)?.failure,
    query,
  };
}
