/* eslint-disable */
import * as types from './graphql';



/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "query Dashboards($projectId: ID!, $after: String) {\n  project(id: $projectId) {\n    dashboards(first: 6, after: $after) {\n      totalCount\n      nodes {\n        ...DashboardCard\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n}\n\nfragment DashboardCard on Dashboard {\n  id\n  name\n  description\n  pinned\n  tags\n  createdAt\n  createdBy {\n    firstName\n    lastName\n  }\n  ...DashboardDetails @defer(label: \"details\")\n}\n\nfragment DashboardDetails on Dashboard {\n  tiles\n  filters\n}\n\nmutation PinDashboard($id: ID!, $pinned: Boolean!) {\n  updateDashboard(input: {id: $id, pinned: $pinned}) {\n    dashboard {\n      id\n      pinned\n    }\n  }\n}": typeof types.DashboardsDocument,
    "query Events($projectId: ID!, $after: String) {\n  project(id: $projectId) {\n    events(first: 10, after: $after) {\n      nodes {\n        ...EventRow\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n}\n\nfragment EventRow on Event {\n  id\n  event\n  timestamp\n  distinctId\n}\n\nsubscription EventsAdded($projectId: ID!, $after: String) {\n  eventsAdded(projectId: $projectId, after: $after) {\n    nodes {\n      ...EventRow\n    }\n    cursor\n    gap\n  }\n}": typeof types.EventsDocument,
    "query Projects($after: String) {\n  projects(first: 20, after: $after) {\n    nodes {\n      ...ProjectLink\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment ProjectLink on Project {\n  id\n  upstreamId\n  name\n  timezone\n}\n\nquery ProjectHeader($id: ID!) {\n  project(id: $id) {\n    ...ProjectFacts\n  }\n}\n\nfragment ProjectFacts on Project {\n  name\n  timezone\n  createdAt\n  ...ProjectRelations @defer(label: \"relations\")\n}\n\nfragment ProjectRelations on Project {\n  organization {\n    name\n  }\n  primaryDashboard {\n    name\n  }\n}": typeof types.ProjectsDocument,
};
const documents: Documents = {
    "query Dashboards($projectId: ID!, $after: String) {\n  project(id: $projectId) {\n    dashboards(first: 6, after: $after) {\n      totalCount\n      nodes {\n        ...DashboardCard\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n}\n\nfragment DashboardCard on Dashboard {\n  id\n  name\n  description\n  pinned\n  tags\n  createdAt\n  createdBy {\n    firstName\n    lastName\n  }\n  ...DashboardDetails @defer(label: \"details\")\n}\n\nfragment DashboardDetails on Dashboard {\n  tiles\n  filters\n}\n\nmutation PinDashboard($id: ID!, $pinned: Boolean!) {\n  updateDashboard(input: {id: $id, pinned: $pinned}) {\n    dashboard {\n      id\n      pinned\n    }\n  }\n}": types.DashboardsDocument,
    "query Events($projectId: ID!, $after: String) {\n  project(id: $projectId) {\n    events(first: 10, after: $after) {\n      nodes {\n        ...EventRow\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n}\n\nfragment EventRow on Event {\n  id\n  event\n  timestamp\n  distinctId\n}\n\nsubscription EventsAdded($projectId: ID!, $after: String) {\n  eventsAdded(projectId: $projectId, after: $after) {\n    nodes {\n      ...EventRow\n    }\n    cursor\n    gap\n  }\n}": types.EventsDocument,
    "query Projects($after: String) {\n  projects(first: 20, after: $after) {\n    nodes {\n      ...ProjectLink\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment ProjectLink on Project {\n  id\n  upstreamId\n  name\n  timezone\n}\n\nquery ProjectHeader($id: ID!) {\n  project(id: $id) {\n    ...ProjectFacts\n  }\n}\n\nfragment ProjectFacts on Project {\n  name\n  timezone\n  createdAt\n  ...ProjectRelations @defer(label: \"relations\")\n}\n\nfragment ProjectRelations on Project {\n  organization {\n    name\n  }\n  primaryDashboard {\n    name\n  }\n}": types.ProjectsDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query Dashboards($projectId: ID!, $after: String) {\n  project(id: $projectId) {\n    dashboards(first: 6, after: $after) {\n      totalCount\n      nodes {\n        ...DashboardCard\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n}\n\nfragment DashboardCard on Dashboard {\n  id\n  name\n  description\n  pinned\n  tags\n  createdAt\n  createdBy {\n    firstName\n    lastName\n  }\n  ...DashboardDetails @defer(label: \"details\")\n}\n\nfragment DashboardDetails on Dashboard {\n  tiles\n  filters\n}\n\nmutation PinDashboard($id: ID!, $pinned: Boolean!) {\n  updateDashboard(input: {id: $id, pinned: $pinned}) {\n    dashboard {\n      id\n      pinned\n    }\n  }\n}"): typeof import('./graphql').DashboardsDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query Events($projectId: ID!, $after: String) {\n  project(id: $projectId) {\n    events(first: 10, after: $after) {\n      nodes {\n        ...EventRow\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n}\n\nfragment EventRow on Event {\n  id\n  event\n  timestamp\n  distinctId\n}\n\nsubscription EventsAdded($projectId: ID!, $after: String) {\n  eventsAdded(projectId: $projectId, after: $after) {\n    nodes {\n      ...EventRow\n    }\n    cursor\n    gap\n  }\n}"): typeof import('./graphql').EventsDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query Projects($after: String) {\n  projects(first: 20, after: $after) {\n    nodes {\n      ...ProjectLink\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment ProjectLink on Project {\n  id\n  upstreamId\n  name\n  timezone\n}\n\nquery ProjectHeader($id: ID!) {\n  project(id: $id) {\n    ...ProjectFacts\n  }\n}\n\nfragment ProjectFacts on Project {\n  name\n  timezone\n  createdAt\n  ...ProjectRelations @defer(label: \"relations\")\n}\n\nfragment ProjectRelations on Project {\n  organization {\n    name\n  }\n  primaryDashboard {\n    name\n  }\n}"): typeof import('./graphql').ProjectsDocument;


export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}
