import { projectOf } from '../auth.ts';
import { type Answer, type Call, ok } from '../call.ts';
import { doesNotExist, notFound, required } from '../errors.ts';
import { isObject } from '../json.ts';
import { pageOf } from '../pages.ts';
import type { Stored } from '../records.ts';
import { changedDashboard, toDetail, toListItem } from './views.ts';

/** GET /api/projects/{project_id}/dashboards/ */
export function listDashboards(call: Call): Answer {
  return pageOf(call, call.store.dashboards, projectOf(call).id, toListItem);
}

/** GET /api/projects/{project_id}/dashboards/{id}/ */
export function getDashboard(call: Call): Answer {
  return ok(toDetail(call.store, dashboardOf(call)));
}

/** PATCH /api/projects/{project_id}/dashboards/{id}/, which also deletes and restores. */
export function updateDashboard(call: Call): Answer {
  const { store, body: request } = call;
  // A deleted dashboard can be restored, and nothing else.
  const restores = request.deleted === false && Object.keys(request).length === 1;
  const dashboard = restores ? anyDashboardOf(call) : dashboardOf(call);
  const deleted = typeof request.deleted === 'boolean' ? request.deleted : dashboard.deleted;
  const body = changedDashboard(dashboard.body, request);
  store.dashboards.update(dashboard.id, body);
  store.dashboards.softDelete(dashboard.id, deleted);
  if (deleted && request.delete_insights === true) removeInsights(call, dashboard);
  return ok(toDetail(store, { ...dashboard, deleted, body }));
}

/** DELETE /api/projects/{project_id}/dashboards/{id}/, which is never allowed. */
export function deleteDashboard(): Answer {
  return { status: 405 };
}

/** PATCH /api/projects/{project_id}/dashboards/{id}/move_tile/ */
export function moveDashboardTile(call: Call): Answer {
  const { store, body } = call;
  const source = dashboardOf(call);
  const { tile, toDashboard } = body;
  if (!isObject(tile)) throw required('tile');
  if (typeof tile.id !== 'number') throw required('tile__id');
  if (typeof toDashboard !== 'number') throw required('toDashboard');
  if (store.tiles.find(source.id, tile.id) === undefined) throw doesNotExist('tile__id', tile.id);
  if (store.dashboards.find(source.owner, toDashboard)?.deleted !== false)
    throw doesNotExist('toDashboard', toDashboard);
  store.tiles.move(tile.id, toDashboard);
  return ok(toDetail(store, source));
}

function removeInsights({ store }: Call, dashboard: Stored): void {
  for (const tile of store.tiles.list(dashboard.id)) if (tile.body.insight !== null) store.tiles.remove(tile.id);
}

function dashboardOf(call: Call): Stored {
  const dashboard = anyDashboardOf(call);
  if (dashboard.deleted) throw notFound();
  return dashboard;
}

function anyDashboardOf(call: Call): Stored {
  const dashboard = call.store.dashboards.find(projectOf(call).id, Number(call.params.id));
  if (dashboard === undefined) throw notFound();
  return dashboard;
}
