/** The pages of the team's application: what each asks a REST API, and gateways in the schemas that they have. */

/** The objects that a page is about. */
export interface Place {
  readonly project: number;
  /** The dashboard that its viewer works on. */
  readonly dashboard: number;
  readonly organization: string;
}

/** The pages of the application. */
export const pageNames = ['overview', 'wall', 'dashboard', 'plugins', 'activity'] as const;

/** One of the pages. */
export type PageName = (typeof pageNames)[number];

/** The time between two polls of an open page, in seconds of the day. */
export const pollSeconds: Readonly<Record<PageName, number>> = {
  overview: 30,
  wall: 60,
  dashboard: 15,
  plugins: 60,
  activity: 10,
};

/** Rows of a page's list. */
const dashboards = 10;
const events = 20;
const plugins = 10;

/** Rows of one step of the export. */
export const exportedRows = 100;

/** A GraphQL operation. Its variables are those of `variablesOf` that it declares. */
export type Query = string;

/** The operations of one kind of schema: for each page, for a step of the export, and for a change of a dashboard. */
export interface Schema {
  readonly pages: Readonly<Record<PageName, Query>>;
  readonly exported: Query;
  readonly edit: Query;
}

/** This gateway's schema. */
export const ourSchema: Schema = {
  pages: {
    overview: `query Overview($project: ID!) {
  project(id: $project) {
    name
    timezone
    updatedAt
    dashboards(first: ${dashboards}) { totalCount nodes { name description } }
    events(first: ${events}) { nodes { event timestamp } }
  }
}`,
    wall: `query Wall($project: ID!) {
  project(id: $project) {
    name
    dashboards(first: ${dashboards}) { nodes { name description pinned createdBy { email } } }
  }
}`,
    dashboard: `query Dashboard($project: ID!, $dashboard: ID!) {
  project(id: $project) { name timezone dashboard(id: $dashboard) { name description } }
}`,
    plugins: `query Plugins($project: ID!, $organization: ID!) {
  project(id: $project) { name }
  organization(id: $organization) { plugins(first: ${plugins}) { totalCount nodes { name pluginType } } }
}`,
    activity: `query Activity($project: ID!) {
  project(id: $project) { name events(first: ${events}) { nodes { event timestamp distinctId } } }
}`,
  },
  exported: `query Export($project: ID!, $after: String) {
  project(id: $project) {
    events(first: ${exportedRows}, after: $after) { pageInfo { endCursor } nodes { event timestamp properties } }
  }
}`,
  edit: `mutation Edit($project: ID!, $dashboard: ID!, $description: String!) {
  updateDashboard(input: { projectId: $project, id: $dashboard, description: $description }) { dashboard { upstreamId } }
}`,
};

/** The schema that the peers share: pages by `limit` and `offset`. */
export const listSchema: Schema = {
  pages: {
    overview: `query Overview($project: ID!) {
  project(id: $project) {
    name
    timezone
    updatedAt
    dashboards(limit: ${dashboards}) { count results { name description } }
    events(limit: ${events}) { results { event timestamp } }
  }
}`,
    wall: `query Wall($project: ID!) {
  project(id: $project) {
    name
    dashboards(limit: ${dashboards}) { results { name description pinned createdBy { email } } }
  }
}`,
    dashboard: `query Dashboard($project: ID!, $dashboard: ID!) {
  project(id: $project) { name timezone dashboard(id: $dashboard) { name description } }
}`,
    plugins: `query Plugins($project: ID!, $organization: ID!) {
  project(id: $project) { name }
  organizationPlugins(id: $organization, limit: ${plugins}) { count results { name pluginType } }
}`,
    activity: `query Activity($project: ID!) {
  project(id: $project) { name events(limit: ${events}) { results { event timestamp distinctId } } }
}`,
  },
  exported: `query Export($project: ID!, $offset: Int) {
  project(id: $project) {
    events(limit: ${exportedRows}, offset: $offset) { results { event timestamp properties } }
  }
}`,
  edit: `mutation Edit($project: ID!, $dashboard: ID!, $description: String!) {
  updateDashboard(projectId: $project, id: $dashboard, description: $description) { id }
}`,
};

/** The schema that GraphQL Mesh makes of the OpenAPI document. */
export const hiveSchema: Schema = {
  pages: {
    overview: `query Overview($project: JSON!) {
  project: getProject(id: $project) {
    name
    timezone
    updated_at
    dashboards(limit: ${dashboards}) { count results { id name description } }
    events(limit: ${events}) { results { id event timestamp } }
  }
}`,
    wall: `query Wall($project: JSON!) {
  project: getProject(id: $project) {
    name
    dashboards(limit: ${dashboards}) { results { id name description pinned created_by { email } } }
  }
}`,
    dashboard: `query Dashboard($project: JSON!, $dashboard: Int!) {
  project: getProject(id: $project) { name timezone dashboard(id: $dashboard) { id name description } }
}`,
    plugins: `query Plugins($project: JSON!, $organization: String!) {
  project: getProject(id: $project) { name }
  listPlugins(parent_lookup_organization_id: $organization, limit: ${plugins}) { count results { id name plugin_type } }
}`,
    activity: `query Activity($project: JSON!) {
  project: getProject(id: $project) { name events(limit: ${events}) { results { id event timestamp distinct_id } } }
}`,
  },
  exported: `query Export($project: JSON!, $offset: Int) {
  project: getProject(id: $project) {
    events(limit: ${exportedRows}, offset: $offset) { results { id event timestamp properties } }
  }
}`,
  edit: `mutation Edit($project: String!, $dashboard: Int!, $description: String!) {
  updateDashboard(project_id: $project, id: $dashboard, input: { description: $description }) { id }
}`,
};

/** The REST calls of a page whose components each ask for what they show: a row, a list, a count, the row of a card. */
export function factsOf(page: PageName, { project, dashboard, organization }: Place): readonly string[] {
  const base = `/api/projects/${project}/`;
  const first = (project - 1) * dashboards + 1;
  switch (page) {
    case 'overview': {
      const list = `${base}dashboards/`;
      return [base, `${list}?limit=${dashboards}`, `${list}?limit=1`, `${base}events/?limit=${events}`];
    }
    case 'wall': {
      const cards = Array.from({ length: dashboards }, (_, index) => `${base}dashboards/${first + index}/`);
      return [base, `${base}dashboards/?limit=${dashboards}`, ...cards];
    }
    case 'dashboard':
      return [base, `${base}dashboards/${dashboard}/`];
    case 'plugins': {
      const list = `/api/organizations/${organization}/plugins/`;
      return [base, `${list}?limit=${plugins}`, `${list}?limit=1`];
    }
    case 'activity':
      return [base, `${base}events/?limit=${events}`];
  }
}
