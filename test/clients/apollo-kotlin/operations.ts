import { type Operations, toOperation } from '../support/mobile.ts';

/** Operations as Apollo Kotlin generates them: on one line, `__typename` only if a type has to be told. */
export const operations: Operations = {
  overview: toOperation('query KotlinOverview($project: ID!) { project(id: $project) { name timezone } }'),
  page: toOperation(
    'query KotlinPage($project: ID!, $first: Int!, $after: String) { project(id: $project) { dashboards(first: $first, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } } } }',
  ),
  describe: toOperation(
    'mutation KotlinDescribe($input: UpdateDashboardInput!) { updateDashboard(input: $input) { dashboard { description } } }',
  ),
};
