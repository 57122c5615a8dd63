import { projectOf } from '../auth.ts';
import { type Answer, type Call, ok } from '../call.ts';
import { notFound } from '../errors.ts';
import { pageOf } from '../pages.ts';
import type { Stored } from '../records.ts';
import { changeDashboard } from './changes.ts';
import { toDetail, toListItem } from './views.ts';

/** GET /api/projects/{project_id}/dashboards/ */
export function listDashboards(call: Call): Answer {
  return pageOf(call, call.store.dashboards, projectOf(call).id, (dashboard) => toListItem(call.user, dashboard));
}

/** GET /api/projects/{project_id}/dashboards/{id}/ */
export function getDashboard(call: Call): Answer {
  return ok(toDetail(call, dashboardOf(call)));
}

/** PATCH /api/projects/{project_id}/dashboards/{id}/, which also deletes and restores. */
export function updateDashboard(call: Call): Answer {
  const { body } = call;
  // A deleted dashboard can be restored, and nothing else.
  const restores = body.deleted === false && Object.keys(body).length === 1;
  return ok(toDetail(call, changeDashboard(call, restores ? anyDashboardOf(call) : dashboardOf(call))));
}

/** DELETE /api/projects/{project_id}/dashboards/{id}/, which is never allowed. */
export function deleteDashboard(): Answer {
  return { status: 405 };
}

/** The dashboard of the path, unless it is deleted. */
export function dashboardOf(call: Call): Stored {
  const dashboard = anyDashboardOf(call);
  if (dashboard.deleted) throw notFound();
  return dashboard;
}

function anyDashboardOf(call: Call): Stored {
  const dashboard = call.store.dashboards.find(projectOf(call).id, Number(call.params.id));
  if (dashboard === undefined) throw notFound();
  return dashboard;
}
