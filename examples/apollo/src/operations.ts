import { gql, type TypedDocumentNode } from '@apollo/client';

/** A dashboard as it stands in the list. */
export interface Dashboard {
  readonly __typename: 'Dashboard';
  readonly id: string;
  readonly name: string | null;
  readonly pinned: boolean | null;
}

interface DashboardsData {
  readonly project: {
    readonly id: string;
    readonly name: string | null;
    readonly dashboards: {
      readonly totalCount: number | null;
      readonly edges: readonly ({ readonly cursor: string; readonly node: Dashboard | null } | null)[] | null;
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    } | null;
  } | null;
}

const dashboardRow = gql`
  fragment DashboardRow on Node {
    id
    ... on Dashboard {
      name
      pinned
    }
  }
`;

/** A page of edges, as `relayStylePagination` puts them together. */
export const dashboards: TypedDocumentNode<DashboardsData, { readonly projectId: string; readonly after?: string }> =
  gql`
  query Dashboards($projectId: ID!, $after: String) {
    project(id: $projectId) {
      id
      name
      dashboards(first: 4, after: $after) {
        totalCount
        edges {
          cursor
          node {
            ...DashboardRow
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
  }
  ${dashboardRow}
`;

interface PinData {
  readonly updateDashboard: {
    readonly __typename: 'UpdateDashboardPayload';
    readonly dashboard: Dashboard | null;
  } | null;
}

/** Answers the dashboard as it is after the change, which the cache takes over by its id. */
export const pinDashboard: TypedDocumentNode<PinData, { readonly id: string; readonly pinned: boolean }> = gql`
  mutation PinDashboard($id: ID!, $pinned: Boolean!) {
    updateDashboard(input: { id: $id, pinned: $pinned }) {
      dashboard {
        ...DashboardRow
      }
    }
  }
  ${dashboardRow}
`;
