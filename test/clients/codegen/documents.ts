import { graphql } from './generated/gql.ts';

/** The first screen. */
export const overview = graphql(`
  query CodegenOverview($project: ID!) {
    project(id: $project) {
      name
      timezone
    }
  }
`);

/** A page of dashboards. */
export const page = graphql(`
  query CodegenPage($project: ID!, $first: Int!, $after: String) {
    project(id: $project) {
      dashboards(first: $first, after: $after) {
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
  }
`);

/** The change. */
export const describe = graphql(`
  mutation CodegenDescribe($input: UpdateDashboardInput!) {
    updateDashboard(input: $input) {
      dashboard {
        description
      }
    }
  }
`);
