import { type Answer, type Call, ok } from '../call.ts';
import { doesNotExist, required } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Stored } from '../records.ts';
import { changeDashboard } from './changes.ts';
import { dashboardOf } from './dashboards.ts';
import { checkChange } from './permissions.ts';
import { moveTile } from './tiles.ts';
import { toDetail } from './views.ts';

/**
 * PATCH /api/projects/{project_id}/dashboards/{id}/move_tile/, which answers the dashboard of the path. The contract shows
 * the dashboard request fields, which are changed; `tile` and `toDashboard`, which the known deployment reads, move a tile.
 */
export function moveDashboardTile(call: Call): Answer {
  const source = changeDashboard(call, dashboardOf(call));
  const { tile, toDashboard } = call.body;
  if (tile !== undefined || toDashboard !== undefined) moveNamedTile(call, source);
  return ok(toDetail(call, source));
}

function moveNamedTile({ store, user, body: { tile, toDashboard } }: Call, source: Stored): void {
  if (!isObject(tile)) throw required('tile');
  if (typeof tile.id !== 'number') throw required('tile__id');
  if (typeof toDashboard !== 'number') throw required('toDashboard');
  if (store.tiles.find(source.id, tile.id) === undefined) throw doesNotExist('tile__id', tile.id);
  const target = store.dashboards.find(source.owner, toDashboard);
  if (target?.deleted !== false) throw doesNotExist('toDashboard', toDashboard);
  checkChange(user, target, {});
  moveTile(store, tile.id, toDashboard);
}
