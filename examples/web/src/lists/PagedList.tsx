import type { ReactNode } from 'react';
import type { Pages } from '../gateway/usePages.ts';
import { Failure } from './Failure.tsx';
import { Skeleton } from './Skeleton.tsx';

interface PagedListProps<Node> {
  /** What is listed, such as `events`. */
  readonly what: string;
  readonly pages: Pages<Node>;
  readonly whenEmpty: ReactNode;
  readonly children: (nodes: readonly Node[]) => ReactNode;
}

/** A list in each of its states: loading, failed, empty, there, and with more to load. What is there stays on a failure. */
export function PagedList<Node>({ what, pages: { nodes, failure, query }, whenEmpty, children }: PagedListProps<Node>) {
  if (query.isPending) return <Skeleton what={what} rows={4} />;
  const retry = query.isFetchNextPageError ? query.fetchNextPage : query.refetch;
  return (
    <>
      {nodes.length > 0 && children(nodes)}
      {nodes.length === 0 && query.isSuccess && <p className="empty">{whenEmpty}</p>}
      {(query.isError || failure) && (
        <Failure
          what={what}
          error={query.error ?? failure}
          isPartial={!query.isError}
          isRetrying={query.isFetching}
          onRetry={() => void retry({ cancelRefetch: false })}
        />
      )}
      {query.hasNextPage && !query.isError && (
        <button
          type="button"
          className="more"
          onClick={() => void query.fetchNextPage({ cancelRefetch: false })}
          aria-disabled={query.isFetchingNextPage}
        >
          {query.isFetchingNextPage ? 'Loading…' : `Load more ${what}`}
        </button>
      )}
      <output className="visually-hidden">
        {nodes.length} {what} shown
      </output>
    </>
  );
}
