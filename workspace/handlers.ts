import type { Handler } from './call.ts';
import * as dashboardCreation from './dashboards/creation.ts';
import * as dashboards from './dashboards/dashboards.ts';
import * as moveTile from './dashboards/move-tile.ts';
import * as events from './events/events.ts';
import * as pluginActions from './plugins/actions.ts';
import * as plugins from './plugins/plugins.ts';
import * as pluginSources from './plugins/sources.ts';
import * as projects from './projects/projects.ts';

/** The function that carries out each operation of the document, by its operationId. */
export const handlers: Readonly<Record<string, Handler>> = {
  listProjects: projects.listProjects,
  createProject: projects.createProject,
  getProject: projects.getProject,
  updateProject: projects.updateProject,
  deleteProject: projects.deleteProject,

  listDashboards: dashboards.listDashboards,
  createDashboard: dashboardCreation.createDashboard,
  getDashboard: dashboards.getDashboard,
  updateDashboard: dashboards.updateDashboard,
  deleteDashboard: dashboards.deleteDashboard,
  moveDashboardTile: moveTile.moveDashboardTile,
  createDashboardFromTemplate: dashboardCreation.createDashboardFromTemplate,

  listEvents: events.listEvents,
  getEvent: events.getEvent,
  listEventValues: events.listEventValues,

  listPlugins: plugins.listPlugins,
  createPlugin: plugins.createPlugin,
  getPlugin: plugins.getPlugin,
  updatePlugin: plugins.updatePlugin,
  deletePlugin: plugins.deletePlugin,
  checkPluginForUpdates: pluginActions.checkPluginForUpdates,
  getPluginSource: pluginSources.getPluginSource,
  updatePluginSource: pluginSources.updatePluginSource,
  upgradePlugin: pluginActions.upgradePlugin,
  listPluginActivity: pluginActions.listPluginActivity,
  listPluginExportsUnsubscribeConfigs: pluginActions.listPluginExportsUnsubscribeConfigs,
  listPluginRepository: pluginActions.listPluginRepository,
  listUnusedPlugins: pluginActions.listUnusedPlugins,
};
