import { useQuery } from '@apollo/client/react';
import { DashboardItem } from './DashboardItem.tsx';
import { dashboards } from './operations.ts';
import { useReachable } from './reachable.ts';

/** The dashboards of a project, page by page. */
export function Dashboards({ projectId }: { readonly projectId: string }) {
  // Dashboards that came are shown, with the error of those that did not.
  const { data, error, loading, fetchMore } = useQuery(dashboards, { variables: { projectId }, errorPolicy: 'all' });
  const isReachable = useReachable();
  const project = data?.project;
  const page = project?.dashboards?.pageInfo;
  const nodes = project?.dashboards?.edges?.map((edge) => edge?.node).filter((node) => node != null) ?? [];
  return (
    <>
      <h1>{project?.name ?? 'Dashboards'}</h1>
      {!isReachable && <p role="alert">The gateway cannot be reached. Trying again…</p>}
      {loading && nodes.length === 0 && <p>Loading…</p>}
      {error !== undefined && <p role="alert">{error.message}</p>}
      <ul>
        {nodes.map((dashboard) => (
          <DashboardItem key={dashboard.id} {...dashboard} />
        ))}
      </ul>
      <p>
        {nodes.length} of {project?.dashboards?.totalCount ?? '?'} dashboards
      </p>
      {page?.hasNextPage && page.endCursor !== null && (
        <button type="button" onClick={() => void fetchMore({ variables: { after: page.endCursor ?? '' } })}>
          Load more
        </button>
      )}
    </>
  );
}
