/** The source of relay-compiler: it turns each tag into a file of generated/, which Relay is given in its place. */
import { graphql } from 'relay-runtime';

/** The first screen. */
export const overviewQuery = graphql`
  query dashboardsOverviewQuery($project: ID!) {
    project(id: $project) {
      name
      timezone
    }
  }
`;

/** A page of dashboards. */
export const pageQuery = graphql`
  query dashboardsPageQuery($project: ID!, $count: Int!) {
    project(id: $project) {
      ...dashboards_project @arguments(count: $count)
    }
  }
`;

/** `usePaginationFragment` takes such a fragment; the query that it names reads the pages that follow, by `node`. */
export const projectFragment = graphql`
  fragment dashboards_project on Project
  @argumentDefinitions(count: { type: "Int!" }, cursor: { type: "String" })
  @refetchable(queryName: "dashboardsNextPageQuery") {
    dashboards(first: $count, after: $cursor) @connection(key: "dashboards_dashboards") {
      edges {
        node {
          name
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

/** `useRefetchableFragment` takes such a fragment. */
export const dashboardFragment = graphql`
  fragment dashboards_dashboard on Dashboard @refetchable(queryName: "dashboardsRefetchQuery") {
    name
    description
  }
`;

/** The change. */
export const describeMutation = graphql`
  mutation dashboardsDescribeMutation($input: UpdateDashboardInput!) {
    updateDashboard(input: $input) {
      dashboard {
        id
        description
        ...dashboards_dashboard
      }
    }
  }
`;
