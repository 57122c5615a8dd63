import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { TypedDocumentString } from '../generated/graphql.ts';
import { type Growth, grown } from '../lists/factState.ts';
import type { Answer, Result } from './Answer.ts';
import { execute } from './execute.ts';
import type { GatewayError } from './GatewayError.ts';
import { idOf } from './request.ts';
import { useResults } from './useResults.ts';

/** A page of a list: https://relay.dev/graphql/connections.htm */
export interface Connection<Node> {
  readonly nodes: readonly (Node | null)[] | null;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly totalCount?: number | null;
}

/** The pages of a list that have been read so far. */
export interface Pages<Node> {
  readonly nodes: readonly Node[];
  /** Tells which fields of a row are still to come, and which failed. */
  readonly growthOf: (node: Node) => Growth;
  /** The number of rows of the whole list; undefined if the list does not tell. */
  readonly totalCount: number | undefined;
  /** The first failure of a field of these rows. */
  readonly failure: GatewayError | undefined;
  readonly query: UseInfiniteQueryResult;
  /** Forgets the pages, and reads the first one again. */
  readonly readAnew: () => void;
}

/** Options of a list. */
export interface PagesOptions {
  /** False if the list is not to be read yet; true by default. */
  readonly enabled?: boolean;
  /** True if the list is read again each time it is shown. */
  readonly isAnew?: boolean;
}

const none: readonly never[] = [];

/**
 * Reads a list page by page. The document takes the cursor of the page before as `$after`, and `connectionOf` finds the
 * list in its data. A page without a list fails; one of which only something is missing is kept.
 */
export function usePages<Data, Variables extends object, Node>(
  document: TypedDocumentString<Data, Variables & { after?: string | null | undefined }>,
  variables: Variables,
  connectionOf: (data: Data) => Connection<Node> | null | undefined,
  { enabled = true, isAnew = false }: PagesOptions = {},
): Pages<Node> {
  const client = useQueryClient();
  const queryKey = [idOf(document), variables];
  const query = useInfiniteQuery<Answer<Data>, Error, InfiniteData<Answer<Data>>, readonly unknown[], string | null>({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const answer = await execute(document, { ...variables, after: pageParam }, signal);
      const { data, failure } = answer.result;
      if (failure !== undefined && !connectionOf(data)) throw failure;
      return answer;
    },
    initialPageParam: null,
    getNextPageParam: ({ result }) => {
      const pageInfo = connectionOf(result.data)?.pageInfo;
      return pageInfo?.hasNextPage ? pageInfo.endCursor : null;
    },
    enabled,
    ...(isAnew && { gcTime: 0 }),
  });
  const results = useResults(query.data?.pages ?? none);
  const connections = results.map(({ data }) => connectionOf(data));
  const growths = new Map(results.flatMap((result) => growthsIn(result, connectionOf(result.data))));
  return {
    nodes: connections.flatMap(nodesOf),
    growthOf: (node) => growths.get(node) ?? grown,
    totalCount: connections.at(-1)?.totalCount ?? undefined,
    failure: results.find(({ failure }) => failure !== undefined)?.failure,
    query,
    readAnew: () => void client.resetQueries({ queryKey, exact: true }),
  };
}

function nodesOf<Node>(connection: Connection<Node> | null | undefined): readonly Node[] {
  return (connection?.nodes ?? []).filter((node) => node !== null);
}

function growthsIn<Node>(
  { isComplete, failedPaths }: Result<unknown>,
  connection: Connection<Node> | null | undefined,
): readonly (readonly [Node, Growth])[] {
  return (connection?.nodes ?? []).flatMap((node, index) => {
    if (node === null) return [];
    const place = `.nodes.${index}.`;
    const below = [...failedPaths].filter((path) => path.includes(place));
    const failedFields = new Set(below.map((path) => path.slice(path.indexOf(place) + place.length)));
    return [[node, { isGrowing: !isComplete, failedFields }]];
  });
}
