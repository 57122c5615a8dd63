/**
 * The data of the benchmark's upstream. Rows are pure functions of their ids, so that every run and every gateway sees
 * the same. Each organization has twenty projects and 1,000 plugins, each project sixty dashboards and 500 events.
 */
import type { JsonObject } from '../../test/support/replies.ts';
import { dashboard, event, listedDashboard, listedProject, plugin, project } from '../../test/support/rows.ts';

/** The number of projects. */
export const projectCount = 2000;

/** The number of dashboards in a project. */
export const dashboardCount = 60;

/** The number of events in a project. */
export const eventCount = 500;

/** The number of plugins in an organization. */
export const pluginCount = 1000;

const projectsOfOrganization = 20;

/** The id of an organization, by its number from 1 on. */
export function organizationId(number: number): string {
  return `0190a000-0000-7000-8000-${number.toString().padStart(12, '0')}`;
}

/** The number of an organization; undefined if `id` is not the id of one. */
export function organizationNumber(id: string): number | undefined {
  const number = Number(/^0190a000-0000-7000-8000-(\d{12})$/.exec(id)?.[1]);
  return number >= 1 && number <= projectCount / projectsOfOrganization ? number : undefined;
}

/** The organization of a project. */
function organizationOf(projectId: number): string {
  return organizationId(Math.ceil(projectId / projectsOfOrganization));
}

/** A project as lists have it. */
export function listedProjectRow(id: number): JsonObject {
  return listedProject(id, { organization: organizationOf(id) });
}

/** A project as it is read by id. Its primary dashboard is its first. */
export function projectRow(id: number): JsonObject {
  return project(id, { organization: organizationOf(id), primary_dashboard: dashboardId(id, 1) });
}

/** The id of the `position`th dashboard of a project, from 1 on. */
export function dashboardId(projectId: number, position: number): number {
  return projectId * 1000 + position;
}

/** A dashboard as lists have it. */
export function listedDashboardRow(projectId: number, position: number): JsonObject {
  return listedDashboard(dashboardId(projectId, position), dashboardChanges(projectId, position));
}

/** A dashboard as it is read by id. */
export function dashboardRow(projectId: number, position: number): JsonObject {
  return dashboard(dashboardId(projectId, position), dashboardChanges(projectId, position));
}

function dashboardChanges(projectId: number, position: number): JsonObject {
  const user = ((projectId * 7 + position) % 500) + 1;
  return {
    name: `Dashboard ${position} of project ${projectId}`,
    description: `Weekly numbers for team ${projectId % 17}, panel set ${position}`,
    pinned: position % 4 === 0,
    created_by: {
      id: user,
      uuid: `0190c000-0000-7000-8000-${user.toString().padStart(12, '0')}`,
      distinct_id: `u-${user}-distinct`,
      first_name: 'Ada',
      last_name: `Lovelace the ${user}th`,
      email: `user${user}@example.com`,
      is_email_verified: user % 3 > 0,
    },
  };
}

/** An event, by its position in its project, from 1 on, the newest first. */
export function eventRow(projectId: number, position: number): JsonObject {
  return event(projectId * 1000 + position);
}

/** A plugin, by its position in its organization, from 1 on. */
export function pluginRow(organization: number, position: number): JsonObject {
  const host = `https://api${position}.example.com`;
  return plugin(organization * 10_000 + position, {
    description: `Sends matching events to destination ${position}, with retries and a list of what could not be sent.`,
    config_schema: [
      { key: 'host', name: 'Host', type: 'string', default: host, required: true },
      { key: 'batch', name: 'Batch size', type: 'number', default: 100, required: false },
      { key: 'secret', name: 'Secret', type: 'string', secret: true, required: true },
    ],
    organization_id: organizationId(organization),
    organization_name: `Organization ${organization}`,
    capabilities: { jobs: ['retry'], methods: ['onEvent', 'setupPlugin'], scheduled_tasks: [] },
    metrics: { sent: 'sum', failed: 'sum' },
  });
}
