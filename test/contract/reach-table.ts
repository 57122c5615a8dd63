import { globalId } from '../support/current.ts';
import type { Entry } from '../support/tenants.ts';

/** The expected outcome, in one place of the schema, for an id that names an object outside of a tenant's reach. */
export type Decision =
  // The gateway knows whose it is: an operation with an id of another's has this outcome without a call.
  | { readonly kind: 'checked'; readonly query: string; readonly outcome: 'null' | 'FORBIDDEN' | 'BAD_USER_INPUT' }
  // The REST path is below the project or organization that the object is a field of, which is within reach itself.
  | { readonly kind: 'below' }
  // A row says whose it is: an operation whose rows refer to another's has this answer, and only these calls.
  | { readonly kind: 'relation'; readonly query: string; readonly data: unknown; readonly calls: readonly string[] }
  // An object that was reached in another place of this table.
  | { readonly kind: 'reached' }
  // A cursor says a position in the list that it is given for, and nothing of whose it is.
  | { readonly kind: 'cursor' }
  // A subscription with an id of another's ends with this code without a call.
  | { readonly kind: 'followed'; readonly query: string; readonly outcome: 'NOT_FOUND' }
  // The body names it: only the upstream can tell whose it is. With a forged id, which says that another's object is in the
  // tenant's own project, the mutation makes these reads and is `FORBIDDEN`; with an upstream id it is so without a call.
  | { readonly kind: 'shown'; readonly forged: string; readonly raw: string; readonly calls: readonly string[] }
  // The upstream looks for it in the object that the path names.
  | { readonly kind: 'inPath' };

/** The organization that it reaches. */
export const own = '018f1c4e-0000-7000-8000-00000000000a';
/** Another one. */
export const other = '018f1c4e-0000-7000-8000-00000000000b';

/** The tenant that the table is about. */
export const entry: Entry = { key: 'phx_narrow', projects: ['1'], organizations: [own], mutations: true };

const dashboard = globalId('Dashboard:2:7');
const ownDashboard = globalId('Dashboard:1:7');
/** The dashboard of another, as if it were in the tenant's own project. */
const forged = globalId('Dashboard:1:203');
const plugin = globalId(`Plugin:${other}:3`);
const ownPlugin = globalId(`Plugin:${own}:3`);

const below: Decision = { kind: 'below' };
const reached: Decision = { kind: 'reached' };
const cursor: Decision = { kind: 'cursor' };

function absent(query: string): Decision {
  return { kind: 'checked', query, outcome: 'null' };
}

function refused(query: string): Decision {
  return { kind: 'checked', query, outcome: 'BAD_USER_INPUT' };
}

/** A mutation with this input. */
function forbidden(mutation: string, fields: string): Decision {
  return { kind: 'checked', query: mutationOf(mutation, fields), outcome: 'FORBIDDEN' };
}

function mutationOf(mutation: string, fields: string): string {
  return `mutation { ${mutation}(input: { ${fields} }) { __typename } }`;
}

/** A mutation whose body names a dashboard; `others` is what else it reads. */
function shown(mutation: string, fields: string, name: string, others: readonly string[] = []): Decision {
  return {
    kind: 'shown',
    forged: mutationOf(mutation, `${fields}, ${name}: "${forged}"`),
    raw: mutationOf(mutation, `${fields}, ${name}: 7`),
    calls: [...others, 'GET /api/projects/1/dashboards/203/'],
  };
}

const files = 'files: [{ name: "index.ts", text: "" }]';
const extra = 'extra: { team: 2 }';

function input(type: string, fields: Readonly<Record<string, Decision>>): Readonly<Record<string, Decision>> {
  return Object.fromEntries(Object.entries(fields).map(([name, decision]) => [`${type}.${name}`, decision]));
}

function dashboardInput(mutation: string, more = ''): Readonly<Record<string, Decision>> {
  return {
    id: forbidden(mutation, `id: "${dashboard}" ${more}`),
    projectId: forbidden(mutation, `id: 7, projectId: 2 ${more}`),
  };
}

function pluginInput(mutation: string, more = ''): Readonly<Record<string, Decision>> {
  return {
    id: forbidden(mutation, `id: "${plugin}" ${more}`),
    organizationId: forbidden(mutation, `id: 3, organizationId: "${other}" ${more}`),
  };
}

const tile = `tileId: 1, toDashboardId: "${ownDashboard}"`;

/** Every field and argument that takes an id, or leads to what the upstream has below one. */
export const decisions: Readonly<Record<string, Decision>> = {
  'Query.node': reached,
  'Query.node(id)': absent(`{ node(id: "${dashboard}") { id } }`),
  'Query.nodes': reached,
  'Query.nodes(ids)': absent(`{ nodes(ids: ["${plugin}"]) { id } }`),
  'Query.project': reached,
  'Query.project(id)': absent('{ project(id: 2) { name } }'),
  'Query.organization': reached,
  'Query.organization(id)': absent(`{ organization(id: "${other}") { name } }`),
  'Query.projects': {
    kind: 'relation',
    query: '{ projects { totalCount nodes { name } } }',
    data: { projects: { totalCount: 1, nodes: [{ name: 'Project 1' }] } },
    calls: ['GET /api/projects/1/'],
  },
  'Subscription.eventsAdded': below,
  'Subscription.eventsAdded(projectId)': {
    kind: 'followed',
    query: 'subscription { eventsAdded(projectId: 2) { nodes { id } } }',
    outcome: 'NOT_FOUND',
  },
  'Subscription.eventsAdded(after)': cursor,
  'EventsAdded.nodes': reached,
  'Query.projects(after)': cursor,
  'Query.projects(before)': cursor,
  'ProjectConnection.nodes': reached,
  'ProjectEdge.node': reached,
  'Project.organization': {
    kind: 'relation',
    query: '{ project(id: 1) { organization { id name } } }',
    data: { project: { organization: null } },
    calls: ['GET /api/projects/1/'],
  },
  'Project.primaryDashboard': below,
  'Project.dashboards': below,
  'Project.dashboards(after)': cursor,
  'Project.dashboards(before)': cursor,
  'Project.dashboard': below,
  'Project.dashboard(id)': refused(`{ project(id: 1) { dashboard(id: "${dashboard}") { id } } }`),
  'Project.events': below,
  'Project.events(after)': cursor,
  'Project.event': below,
  'Project.event(id)': refused(`{ project(id: 1) { event(id: "${globalId('Event:2:e')}") { id } } }`),
  'Project.eventCsv': below,
  'Project.eventCsv(id)': refused(`{ project(id: 1) { eventCsv(id: "${globalId('Event:2:e')}") } }`),
  'Project.eventsCsv': below,
  'Project.eventsCsv(after)': cursor,
  'Project.eventRows': below,
  'Project.eventRows(after)': cursor,
  'Project.eventValues': below,
  'Project.eventValuesCsv': below,
  'DashboardConnection.nodes': reached,
  'DashboardEdge.node': reached,
  'Dashboard.project': reached,
  'Dashboard.useDashboard': below,
  'EventConnection.nodes': reached,
  'EventEdge.node': reached,
  'Event.project': reached,
  'Organization.name': below,
  'Organization.plugins': below,
  'Organization.plugins(after)': cursor,
  'Organization.plugins(before)': cursor,
  'Organization.plugin': below,
  'Organization.plugin(id)': refused(`{ organization(id: "${own}") { plugin(id: "${plugin}") { id } } }`),
  'Organization.pluginActivity': below,
  'Organization.pluginActivity(after)': cursor,
  'Organization.pluginExportsUnsubscribeConfigs': below,
  'Organization.pluginRepository': below,
  'Organization.unusedPlugins': below,
  'PluginConnection.nodes': reached,
  'PluginEdge.node': reached,
  'Plugin.organization': {
    kind: 'relation',
    query: `{ organization(id: "${own}") { plugins { nodes { name organization { id name } } } } }`,
    data: { organization: { plugins: { nodes: [{ name: 'Plugin 1', organization: null }] } } },
    calls: [`GET /api/organizations/${own}/plugins/?limit=50`],
  },
  'Plugin.source': below,
  ...input('CreateProjectInput', {
    primaryDashboardId: forbidden('createProject', `name: "x", primaryDashboardId: 7`),
    extra: forbidden('createProject', `name: "x", ${extra}`),
  }),
  ...input('UpdateProjectInput', {
    id: forbidden('updateProject', 'id: 2'),
    primaryDashboardId: shown('updateProject', 'id: 1', 'primaryDashboardId'),
    extra: forbidden('updateProject', `id: 1, ${extra}`),
  }),
  ...input('DeleteProjectInput', { id: forbidden('deleteProject', 'id: 2') }),
  ...input('CreateDashboardInput', {
    projectId: forbidden('createDashboard', 'projectId: 2'),
    useDashboardId: shown('createDashboard', 'projectId: 1', 'useDashboardId'),
    extra: forbidden('createDashboard', `projectId: 1, ${extra}`),
  }),
  ...input('CreateDashboardFromTemplateInput', {
    projectId: forbidden('createDashboardFromTemplate', 'projectId: 2, template: {}'),
    extra: forbidden('createDashboardFromTemplate', `projectId: 1, template: {}, ${extra}`),
  }),
  ...input('UpdateDashboardInput', {
    ...dashboardInput('updateDashboard'),
    extra: forbidden('updateDashboard', `id: "${ownDashboard}", ${extra}`),
  }),
  ...input('DeleteDashboardInput', dashboardInput('deleteDashboard')),
  ...input('RestoreDashboardInput', dashboardInput('restoreDashboard')),
  ...input('MoveDashboardTileInput', {
    ...dashboardInput('moveDashboardTile', `tileId: 1, toDashboardId: "${globalId('Dashboard:2:8')}"`),
    // Both dashboards are read first.
    tileId: { kind: 'inPath' },
    toDashboardId: shown('moveDashboardTile', `id: "${ownDashboard}", tileId: 1`, 'toDashboardId', [
      'GET /api/projects/1/dashboards/7/',
    ]),
    extra: forbidden('moveDashboardTile', `id: "${ownDashboard}", ${tile}, ${extra}`),
  }),
  ...input('CreatePluginInput', {
    organizationId: forbidden('createPlugin', `organizationId: "${other}"`),
    extra: forbidden('createPlugin', `organizationId: "${own}", ${extra}`),
  }),
  ...input('UpdatePluginInput', {
    ...pluginInput('updatePlugin'),
    extra: forbidden('updatePlugin', `id: "${ownPlugin}", ${extra}`),
  }),
  ...input('DeletePluginInput', pluginInput('deletePlugin')),
  ...input('UpdatePluginSourceInput', {
    ...pluginInput('updatePluginSource', files),
    // It takes nothing of anyone.
    extra: refused(mutationOf('updatePluginSource', `id: "${ownPlugin}", extra: { tag: "x" }`)),
  }),
  ...input('UpgradePluginInput', {
    ...pluginInput('upgradePlugin'),
    extra: forbidden('upgradePlugin', `id: "${ownPlugin}", ${extra}`),
  }),
  ...input('CheckPluginForUpdatesInput', pluginInput('checkPluginForUpdates')),
  'CreateProjectPayload.project': reached,
  'UpdateProjectPayload.project': reached,
  'DeleteProjectPayload.project': reached,
  'CreateDashboardPayload.dashboard': reached,
  'CreateDashboardFromTemplatePayload.dashboard': reached,
  'UpdateDashboardPayload.dashboard': reached,
  'DeleteDashboardPayload.dashboard': reached,
  'RestoreDashboardPayload.dashboard': reached,
  'MoveDashboardTilePayload.dashboard': reached,
  'CreatePluginPayload.plugin': reached,
  'UpdatePluginPayload.plugin': reached,
  'UpdatePluginSourcePayload.plugin': reached,
  'UpgradePluginPayload.plugin': reached,
  'CheckPluginForUpdatesPayload.plugin': reached,
};
