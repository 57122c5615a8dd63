/**
 * The schema that the peers written in JavaScript share: the REST API's types, their names in camelCase, lists as
 * `{count, results}`.
 */
export const typeDefs = /* GraphQL */ `
  scalar JSON

  type Query {
    project(id: ID!): Project
    projects(limit: Int, offset: Int): ProjectPage!
    organizationPlugins(id: ID!, limit: Int, offset: Int): PluginPage!
  }

  type ProjectPage { count: Int! results: [Project!]! }
  type DashboardPage { count: Int! results: [Dashboard!]! }
  type PluginPage { count: Int! results: [Plugin!]! }
  type EventPage { results: [Event!]! }

  type Project {
    id: ID!
    uuid: ID
    organizationId: ID
    apiToken: String
    appUrls: [String]
    name: String
    slackIncomingWebhook: String
    createdAt: String
    updatedAt: String
    anonymizeIps: Boolean
    completedSnippetOnboarding: Boolean
    ingestedEvent: Boolean
    testAccountFilters: JSON
    testAccountFiltersDefaultChecked: Boolean
    pathCleaningFilters: JSON
    isDemo: Boolean
    timezone: String
    dataAttributes: JSON
    personDisplayNameProperties: [String]
    correlationConfig: JSON
    autocaptureOptOut: Boolean
    autocaptureExceptionsOptIn: Boolean
    autocaptureExceptionsErrorsToIgnore: JSON
    captureConsoleLogOptIn: Boolean
    capturePerformanceOptIn: Boolean
    sessionRecordingOptIn: Boolean
    sessionRecordingSampleRate: String
    sessionRecordingMinimumDurationMilliseconds: Int
    sessionRecordingLinkedFlag: JSON
    sessionRecordingNetworkPayloadCaptureConfig: JSON
    sessionReplayConfig: JSON
    effectiveMembershipLevel: Int
    accessControl: Boolean
    weekStartDay: Int
    hasGroupTypes: Boolean
    primaryDashboardId: ID
    liveEventsColumns: [String]
    recordingDomains: [String]
    personOnEventsQueryingEnabled: Boolean
    groupsOnEventsQueryingEnabled: Boolean
    injectWebApps: Boolean
    extraSettings: JSON
    hasCompletedOnboardingFor: JSON
    surveysOptIn: Boolean
    primaryDashboard: Dashboard
    dashboard(id: ID!): Dashboard
    dashboards(limit: Int, offset: Int): DashboardPage
    events(limit: Int, offset: Int): EventPage
    plugins(limit: Int, offset: Int): PluginPage
  }

  type User {
    id: ID!
    uuid: ID
    distinctId: String
    firstName: String
    lastName: String
    email: String
    isEmailVerified: Boolean
  }

  type Dashboard {
    id: ID!
    name: String
    description: String
    pinned: Boolean
    createdAt: String
    createdBy: User
    isShared: Boolean
    deleted: Boolean
    creationMode: String
    tags: [String]
    restrictionLevel: Int
    effectiveRestrictionLevel: Int
    effectivePrivilegeLevel: Int
  }

  type Event {
    id: ID!
    distinctId: String
    properties: JSON
    event: String
    timestamp: String
    person: JSON
    elements: JSON
    elementsChain: String
  }

  type Plugin {
    id: ID!
    pluginType: String
    name: String
    description: String
    url: String
    icon: String
    configSchema: JSON
    tag: String
    latestTag: String
    isGlobal: Boolean
    organizationId: ID
    organizationName: String
    capabilities: JSON
    metrics: JSON
    publicJobs: JSON
  }
`;

/** Columns that are not the field's name in snake_case. */
const named = { 'Project.organizationId': 'organization', 'Project.primaryDashboardId': 'primary_dashboard' };

/** The columns of a project that lists have. */
const listed = new Set(
  'id,uuid,organization,api_token,name,completed_snippet_onboarding,has_completed_onboarding_for,ingested_event,is_demo,timezone,access_control'.split(
    ',',
  ),
);

/** The REST columns of a type: field to column, its scalar and plain object fields. */
export function columnsOf(type) {
  const body = new RegExp(`type ${type} \\{([^}]*)\\}`).exec(typeDefs)[1];
  const fields = [...body.matchAll(/^ +(\w+): (?!Dashboard$)/gm)].map(([, field]) => field);
  const snake = (field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(fields.map((field) => [field, named[`${type}.${field}`] ?? snake(field)]));
}

/** The types whose fields are columns. */
export const rowTypes = ['Project', 'User', 'Dashboard', 'Event', 'Plugin'];

/** True if a column of a project is in the detail view only. */
export function isDetailOnly(column) {
  return !listed.has(column);
}

/** Where things are in the REST API. */
export const paths = {
  projects: (window) => `/api/projects/${queryOf(window)}`,
  project: (id) => `/api/projects/${id}/`,
  dashboards: (projectId, window) => `/api/projects/${projectId}/dashboards/${queryOf(window)}`,
  dashboard: (projectId, id) => `/api/projects/${projectId}/dashboards/${id}/`,
  events: (projectId, window) => `/api/projects/${projectId}/events/${queryOf(window)}`,
  plugins: (organizationId, window) => `/api/organizations/${organizationId}/plugins/${queryOf(window)}`,
};

function queryOf({ limit, offset }) {
  const given = [limit != null && `limit=${limit}`, offset != null && `offset=${offset}`].filter(Boolean);
  return given.length > 0 ? `?${given.join('&')}` : '';
}
