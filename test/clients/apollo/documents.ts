import { gql, type TypedDocumentNode } from '@apollo/client';
import type { DashboardDescription, DescribeData, OverviewData, PageData } from '../support/client.ts';

/** The first screen. */
export const overview: TypedDocumentNode<OverviewData, { project: string }> = gql`
  query Overview($project: ID!) {
    project(id: $project) {
      id
      name
      timezone
    }
  }
`;

/** A page of dashboards. */
export const page: TypedDocumentNode<PageData, { project: string; first: number; after?: string | null }> = gql`
  query DashboardPage($project: ID!, $first: Int!, $after: String) {
    project(id: $project) {
      id
      dashboards(first: $first, after: $after) {
        edges {
          cursor
          node {
            ...DashboardName
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
  fragment DashboardName on Dashboard {
    id
    name
  }
`;

/** The change. */
export const describe: TypedDocumentNode<DescribeData, { input: DashboardDescription }> = gql`
  mutation Describe($input: UpdateDashboardInput!) {
    updateDashboard(input: $input) {
      dashboard {
        id
        description
      }
    }
  }
`;
