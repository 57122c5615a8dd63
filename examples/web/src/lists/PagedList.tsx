import type { ReactNode } from 'react';
import { errorOf } from '../gateway/tryAgain.ts';
import type { Pages } from '../gateway/usePages.ts';
import { Failure } from './Failure.tsx';
import { Skeleton } from './Skeleton.tsx';

interface PagedListProps<Node> {
  /** The noun of the rows, such as `events`. */
  readonly what: string;
  readonly pages: Pages<Node>;
  /** The rows to show, if they are others than those of `pages`. */
  readonly nodes?: readonly Node[];
  /** False if no more rows may be loaded behind those that are shown; true by default. */
  readonly goesOn?: boolean;
  readonly whenEmpty: ReactNode;
  readonly children: (nodes: readonly Node[]) => ReactNode;
}

/** A list in each of its states: loading, failed, empty, there, and with more to load. What is there stays on a failure. */
export function PagedList<Node>(props: PagedListProps<Node>) {
  const { what, pages, nodes = pages.nodes, goesOn = true, whenEmpty, children } = props;
  const { failure, query } = pages;
  const error = errorOf(query);
  if (query.isPending && error === undefined) return <Skeleton what={what} rows={4} />;
  const retry = query.isFetchNextPageError ? query.fetchNextPage : query.refetch;
  return (
    <>
      {nodes.length > 0 && children(nodes)}
      {nodes.length === 0 && query.isSuccess && <p className="empty">{whenEmpty}</p>}
      {(error ?? failure) && (
        <Failure
          what={what}
          error={error ?? failure}
          isPartial={error === undefined}
          isRetrying={query.isFetching}
          onRetry={() => void retry({ cancelRefetch: false })}
        />
      )}
      {query.hasNextPage && goesOn && error === undefined && (
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
        {pages.nodes.length} {what} loaded
      </output>
    </>
  );
}
