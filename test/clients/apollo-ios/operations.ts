import { type Operations, toOperation } from '../support/mobile.ts';

/** Operations as Apollo iOS generates them: on one line, with `__typename` in every selection set but the root's. */
export const operations: Operations = {
  overview: toOperation('query SwiftOverview($project: ID!) { project(id: $project) { __typename name timezone } }'),
  page: toOperation(
    'query SwiftPage($project: ID!, $first: Int!, $after: String) { project(id: $project) { __typename dashboards(first: $first, after: $after) { __typename edges { __typename node { __typename name } } pageInfo { __typename hasNextPage endCursor } } } }',
  ),
  describe: toOperation(
    'mutation SwiftDescribe($input: UpdateDashboardInput!) { updateDashboard(input: $input) { __typename dashboard { __typename description } } }',
  ),
};
