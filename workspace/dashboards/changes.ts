import type { Call } from '../call.ts';
import { isObject, type JsonObject, pick } from '../json.ts';
import type { Stored } from '../records.ts';
import { modelOf } from './creation.ts';
import { checkChange } from './permissions.ts';
import { addTiles } from './tiles.ts';
import { changedDashboard } from './views.ts';

/** Makes the changes that the dashboard request fields of the body ask for, and answers the dashboard as it is then. */
export function changeDashboard(call: Call, dashboard: Stored): Stored {
  const { store, user, body: request } = call;
  checkChange(user, dashboard, request);
  const { fields, tiles } = modelOf({ store, body: newIn(dashboard, request) }, Number(dashboard.owner));
  const deleted = typeof request.deleted === 'boolean' ? request.deleted : dashboard.deleted;
  const body = changedDashboard({ ...dashboard.body, ...missingIn(dashboard.body, fields) }, request);
  store.dashboards.update(dashboard.id, body);
  store.dashboards.softDelete(dashboard.id, deleted);
  addTiles(store, dashboard.id, tiles);
  if (deleted && request.delete_insights === true) removeInsights(call, dashboard);
  return { ...dashboard, deleted, body };
}

/** The request's fields that differ from the dashboard's: one sent back as it was read applies its template no more. */
function newIn({ body }: Stored, request: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([name, value]) => value !== body[name]));
}

/** The fields that a dashboard takes over from a template or from another dashboard: those that it has left blank. */
function missingIn(body: JsonObject, fields: JsonObject): JsonObject {
  const names = ['name', 'description', 'filters', 'tags'].filter((name) => isBlank(body[name]));
  return pick(fields, names);
}

function isBlank(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function removeInsights({ store }: Call, dashboard: Stored): void {
  for (const tile of store.tiles.list(dashboard.id)) if (tile.body.insight !== null) store.tiles.remove(tile.id);
}
