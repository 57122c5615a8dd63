import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import type { TypedDocumentString } from '../generated/graphql.ts';
import { execute, idOf } from './execute.ts';

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
  readonly query: UseInfiniteQueryResult;
}

/**
 * Reads a list page by page. The document takes the cursor of the page before as `$after`, and `connectionOf` finds the
 * list in its result.
 */
export function usePages<Result, Variables extends object, Node>(
  document: TypedDocumentString<Result, Variables & { after?: string | null | undefined }>,
  variables: Variables,
  connectionOf: (result: Result) => Connection<Node> | null | undefined,
): Pages<Node> {
  const query = useInfiniteQuery<Result, Error, InfiniteData<Result>, readonly unknown[], string | null>({
    queryKey: [idOf(document), variables],
    queryFn: ({ pageParam, signal }) => execute(document, { ...variables, after: pageParam }, signal),
    initialPageParam: null,
    getNextPageParam: (result) => {
      const pageInfo = connectionOf(result)?.pageInfo;
      return pageInfo?.hasNextPage ? pageInfo.endCursor : null;
    },
  });
  const connections = query.data?.pages.map(connectionOf) ?? [];
  return {
    nodes: connections.flatMap((connection) => connection?.nodes ?? []).filter((node) => node !== null),
    totalCount: connections.at(-1)?.totalCount ?? undefined,
    query,
  };
}
