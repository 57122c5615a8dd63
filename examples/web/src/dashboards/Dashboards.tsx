import { usePages } from '../gateway/usePages.ts';
import { DashboardsDocument } from '../generated/graphql.ts';
import { PagedList } from '../lists/PagedList.tsx';
import { DashboardCard } from './DashboardCard.tsx';

/** The dashboards of a project. */
export function Dashboards({ projectId }: { readonly projectId: string }) {
  const dashboards = usePages(DashboardsDocument, { projectId }, ({ project }) => project?.dashboards);
  return (
    <section aria-labelledby="dashboards">
      <h2 id="dashboards">
        Dashboards {dashboards.totalCount !== undefined && <small>{dashboards.totalCount}</small>}
      </h2>
      <PagedList what="dashboards" pages={dashboards} whenEmpty="This project has no dashboards yet.">
        {(nodes) => (
          <ul className="cards">
            {nodes.map((dashboard) => (
              <DashboardCard key={dashboard.id} dashboard={dashboard} growth={dashboards.growthOf(dashboard)} />
            ))}
          </ul>
        )}
      </PagedList>
    </section>
  );
}
