import { type Json, reply } from '../support/replies.ts';
import type { Answer } from '../support/routes.ts';
import { dashboard, event, listedDashboard, listedProject, plugin, project } from '../support/rows.ts';

/** One way in which a GraphQL operation reaches an operation of the REST API. */
export interface Reach {
  /** The `operationId` of the OpenAPI document. */
  readonly operation: string;
  readonly query: string;
  /** `METHOD target`, byte for byte. */
  readonly request: string;
  /** The body, byte for byte; left out if none is sent. */
  readonly body?: string;
  readonly answer: Answer;
  readonly data: Json;
}

/** An organization as paths name it. */
export const organizationId = '018f1c4e-0000-7000-8000-00000000000a';
const eventId = '018f1c4e-0000-7000-8000-000000000005';
const projects = '/api/projects/';
const dashboards = `${projects}1/dashboards/`;
const events = `${projects}1/events/`;
const plugins = `/api/organizations/${organizationId}/plugins/`;

/** The global id of an object: its type, the id of its owner if it has one, and its own id. */
export function globalId(...parts: readonly string[]): string {
  return Buffer.from(parts.join(':')).toString('base64url');
}

const dashboardId = globalId('Dashboard', '1', '5');
const pluginId = globalId('Plugin', organizationId, '5');
const noBody = reply({ status: 204 });

/** Every operation of the REST API, but for the delete of a dashboard, which always answers 405. */
export const reaches: readonly Reach[] = [
  {
    operation: 'listProjects',
    query: '{ projects(first: 3) { totalCount nodes { upstreamId name } } }',
    request: `GET ${projects}?limit=3`,
    answer: page([listedProject(5)]),
    data: { projects: { totalCount: 1, nodes: [{ upstreamId: '5', name: 'Project 5' }] } },
  },
  {
    operation: 'createProject',
    query: 'mutation { createProject(input: { name: "New" }) { project { id name updatedAt } } }',
    request: `POST ${projects}`,
    body: '{"name":"New"}',
    answer: reply({ status: 201, body: project(5, { name: 'New' }) }),
    data: {
      createProject: {
        project: { id: globalId('Project', '5'), name: 'New', updatedAt: '2024-05-01T08:00:00.654321Z' },
      },
    },
  },
  {
    operation: 'getProject',
    query: '{ project(id: 5) { id upstreamId name } }',
    request: `GET ${projects}5/`,
    answer: project(5),
    data: { project: { id: globalId('Project', '5'), upstreamId: '5', name: 'Project 5' } },
  },
  {
    operation: 'updateProject',
    query: `mutation { updateProject(input: { id: "${globalId('Project', '5')}", name: "New" }) { project { id name } } }`,
    request: `PATCH ${projects}5/`,
    body: '{"name":"New"}',
    answer: project(5, { name: 'New' }),
    data: { updateProject: { project: { id: globalId('Project', '5'), name: 'New' } } },
  },
  {
    operation: 'deleteProject',
    query: 'mutation { deleteProject(input: { id: 5 }) { deletedId project { id } } }',
    request: `DELETE ${projects}5/`,
    answer: noBody,
    data: { deleteProject: { deletedId: globalId('Project', '5'), project: null } },
  },
  {
    operation: 'listDashboards',
    query: '{ project(id: 1) { dashboards(first: 3) { nodes { upstreamId name } } } }',
    request: `GET ${dashboards}?limit=3`,
    answer: page([listedDashboard(5)]),
    data: { project: { dashboards: { nodes: [{ upstreamId: '5', name: 'Dashboard 5' }] } } },
  },
  {
    operation: 'createDashboard',
    query: 'mutation { createDashboard(input: { projectId: 1, name: "New" }) { dashboard { id name tiles } } }',
    request: `POST ${dashboards}`,
    body: '{"name":"New"}',
    answer: reply({ status: 201, body: dashboard(5, { name: 'New', tiles: [] }) }),
    data: { createDashboard: { dashboard: { id: dashboardId, name: 'New', tiles: [] } } },
  },
  {
    operation: 'getDashboard',
    query: '{ project(id: 1) { dashboard(id: 5) { id name filters } } }',
    request: `GET ${dashboards}5/`,
    answer: dashboard(5),
    data: { project: { dashboard: { id: dashboardId, name: 'Dashboard 5', filters: { date_from: '-7d' } } } },
  },
  {
    operation: 'updateDashboard',
    query: `mutation { updateDashboard(input: { id: "${dashboardId}", pinned: true }) { dashboard { id pinned } } }`,
    request: `PATCH ${dashboards}5/`,
    body: '{"pinned":true}',
    answer: dashboard(5),
    data: { updateDashboard: { dashboard: { id: dashboardId, pinned: true } } },
  },
  // The hard delete is refused with 405, always: `deleteDashboard` sets a flag instead.
  {
    operation: 'updateDashboard',
    query: 'mutation { deleteDashboard(input: { id: 5, projectId: 1 }) { deletedId dashboard { deleted } } }',
    request: `PATCH ${dashboards}5/`,
    body: '{"deleted":true}',
    answer: dashboard(5, { deleted: true }),
    data: { deleteDashboard: { deletedId: dashboardId, dashboard: { deleted: true } } },
  },
  {
    operation: 'updateDashboard',
    query: `mutation { restoreDashboard(input: { id: "${dashboardId}" }) { dashboard { id deleted } } }`,
    request: `PATCH ${dashboards}5/`,
    body: '{"deleted":false}',
    answer: dashboard(5),
    data: { restoreDashboard: { dashboard: { id: dashboardId, deleted: false } } },
  },
  {
    operation: 'moveDashboardTile',
    query: `mutation { moveDashboardTile(input: { id: "${dashboardId}", tileId: 1, toDashboardId: 2 })
      { dashboard { id } } }`,
    request: `PATCH ${dashboards}5/move_tile/`,
    body: '{"tile":{"id":1},"toDashboard":2}',
    answer: dashboard(5),
    data: { moveDashboardTile: { dashboard: { id: dashboardId } } },
  },
  {
    operation: 'createDashboardFromTemplate',
    query: `mutation { createDashboardFromTemplate(input: { projectId: 1, template: { tiles: [] } })
      { dashboard { id } } }`,
    request: `POST ${dashboards}create_from_template_json/`,
    body: '{"template":{"tiles":[]}}',
    answer: dashboard(5),
    data: { createDashboardFromTemplate: { dashboard: { id: dashboardId } } },
  },
  {
    operation: 'listEvents',
    query: '{ project(id: 1) { events(first: 3) { nodes { upstreamId event } } } }',
    request: `GET ${events}?limit=3`,
    answer: { next: null, results: [event(5)] },
    data: { project: { events: { nodes: [{ upstreamId: eventId, event: '$pageview' }] } } },
  },
  {
    operation: 'getEvent',
    query: `{ project(id: 1) { event(id: "${eventId}") { id distinctId } } }`,
    request: `GET ${events}${eventId}/`,
    answer: event(5),
    data: { project: { event: { id: globalId('Event', '1', eventId), distinctId: '005' } } },
  },
  {
    operation: 'listEventValues',
    query:
      '{ project(id: 1) { eventValues(key: "$browser", eventName: "$pageview") { values { name } refreshing body } } }',
    request: `GET ${events}values/?key=%24browser&event_name=%24pageview`,
    answer: [{ name: 'Firefox' }],
    data: {
      project: { eventValues: { values: [{ name: 'Firefox' }], refreshing: null, body: [{ name: 'Firefox' }] } },
    },
  },
  {
    operation: 'listPlugins',
    query: `{ organization(id: "${organizationId}") { plugins(first: 3) { nodes { upstreamId name } } } }`,
    request: `GET ${plugins}?limit=3`,
    answer: page([plugin(5)]),
    data: { organization: { plugins: { nodes: [{ upstreamId: '5', name: 'Plugin 5' }] } } },
  },
  {
    operation: 'createPlugin',
    query: `mutation { createPlugin(input: { organizationId: "${organizationId}", pluginType: CUSTOM,
      url: "https://example.com/p" }) { plugin { id pluginType } } }`,
    request: `POST ${plugins}`,
    body: '{"plugin_type":"custom","url":"https://example.com/p"}',
    answer: reply({ status: 201, body: plugin(5, { plugin_type: 'custom' }) }),
    data: { createPlugin: { plugin: { id: pluginId, pluginType: 'CUSTOM' } } },
  },
  {
    operation: 'getPlugin',
    query: `{ organization(id: "${organizationId}") { plugin(id: 5) { id name } } }`,
    request: `GET ${plugins}5/`,
    answer: plugin(5),
    data: { organization: { plugin: { id: pluginId, name: 'Plugin 5' } } },
  },
  {
    operation: 'updatePlugin',
    query: `mutation { updatePlugin(input: { id: 5, organizationId: "${organizationId}", name: "New" })
      { plugin { id name } } }`,
    request: `PATCH ${plugins}5/`,
    body: '{"name":"New"}',
    answer: plugin(5, { name: 'New' }),
    data: { updatePlugin: { plugin: { id: pluginId, name: 'New' } } },
  },
  {
    operation: 'deletePlugin',
    query: `mutation { deletePlugin(input: { id: 5, organizationId: "${organizationId}" }) { deletedId } }`,
    request: `DELETE ${plugins}5/`,
    answer: noBody,
    data: { deletePlugin: { deletedId: pluginId } },
  },
  {
    operation: 'checkPluginForUpdates',
    query: `mutation { checkPluginForUpdates(input: { id: "${pluginId}" }) { plugin { id latestTag } body } }`,
    request: `GET ${plugins}5/check_for_updates/`,
    answer: { plugin: { id: 5, name: 'Plugin 5', latest_tag: 'v9' } },
    data: {
      checkPluginForUpdates: {
        plugin: { id: pluginId, latestTag: 'v9' },
        body: { plugin: { id: 5, name: 'Plugin 5', latest_tag: 'v9' } },
      },
    },
  },
  {
    operation: 'getPluginSource',
    query: `{ node(id: "${pluginId}") { ... on Plugin { source { files { name text } body } } } }`,
    request: `GET ${plugins}5/source/`,
    answer: { 'index.ts': 'export {}' },
    data: {
      node: { source: { files: [{ name: 'index.ts', text: 'export {}' }], body: { 'index.ts': 'export {}' } } },
    },
  },
  {
    operation: 'updatePluginSource',
    query: `mutation Save($files: [PluginFileInput!] = [{ name: "a.ts", text: "1" }])
      { updatePluginSource(input: { id: "${pluginId}", files: $files, deletedFiles: ["b.ts"] })
      { files { name text } body } }`,
    request: `PATCH ${plugins}5/update_source/`,
    body: '{"a.ts":"1","b.ts":null}',
    answer: { 'a.ts': '1' },
    data: { updatePluginSource: { files: [{ name: 'a.ts', text: '1' }], body: { 'a.ts': '1' } } },
  },
  {
    operation: 'upgradePlugin',
    query: `mutation { upgradePlugin(input: { id: "${pluginId}" }) { plugin { id tag } } }`,
    request: `POST ${plugins}5/upgrade/`,
    body: '{}',
    answer: plugin(5, { tag: 'v2' }),
    data: { upgradePlugin: { plugin: { id: pluginId, tag: 'v2' } } },
  },
  {
    operation: 'listPluginActivity',
    query: `{ organization(id: "${organizationId}") { pluginActivity {
      totalCount entries { activity createdAt user { email } scope itemId detail } } } }`,
    request: `GET ${plugins}activity/`,
    answer: {
      results: [
        {
          user: { first_name: 'Ida', email: 'ida@example.com' },
          activity: 'installed',
          scope: 'Plugin',
          item_id: '5',
          detail: { name: 'GeoIP', changes: null },
          created_at: '2024-05-01T10:00:00',
        },
      ],
      next: null,
      previous: null,
      total_count: 7,
    },
    data: {
      organization: {
        pluginActivity: {
          totalCount: 7,
          entries: [
            {
              activity: 'installed',
              createdAt: '2024-05-01T10:00:00Z',
              user: { email: 'ida@example.com' },
              scope: 'Plugin',
              itemId: '5',
              detail: { name: 'GeoIP', changes: null },
            },
          ],
        },
      },
    },
  },
  {
    operation: 'listPluginExportsUnsubscribeConfigs',
    query: `{ organization(id: "${organizationId}") { pluginExportsUnsubscribeConfigs } }`,
    request: `GET ${plugins}exports_unsubscribe_configs/`,
    answer: [{ id: 1, enabled: true }],
    data: { organization: { pluginExportsUnsubscribeConfigs: [{ id: 1, enabled: true }] } },
  },
  {
    operation: 'listPluginRepository',
    query: `{ organization(id: "${organizationId}") { pluginRepository { name url body } } }`,
    request: `GET ${plugins}repository/`,
    answer: [{ name: 'GeoIP', verified: true }],
    data: {
      organization: { pluginRepository: [{ name: 'GeoIP', url: null, body: { name: 'GeoIP', verified: true } }] },
    },
  },
  {
    operation: 'listUnusedPlugins',
    query: `{ organization(id: "${organizationId}") { unusedPlugins { id upstreamId } } }`,
    request: `GET ${plugins}unused/`,
    answer: [5],
    data: { organization: { unusedPlugins: [{ id: pluginId, upstreamId: '5' }] } },
  },
];

function page(results: readonly Json[]): Json {
  return { count: results.length, next: null, previous: null, results };
}
