import { invalid } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from '../store.ts';

/** Most tiles of a dashboard: it could be copied into itself again and again. */
const maximumTiles = 500;

/** Most characters of JSON in the tiles of a dashboard, which every answer holds. */
const maximumCharacters = 2_000_000;

/** Puts tiles on a dashboard, behind those that are there. */
export function addTiles({ tiles: records }: Store, dashboardId: number, tiles: readonly JsonObject[]): void {
  for (const tile of tiles) records.insert(dashboardId, tile);
  if (tiles.length > 0) checkTiles(records.list(dashboardId).map(({ body }) => body));
}

/** Moves a tile to another dashboard. */
export function moveTile({ tiles: records }: Store, tileId: number, dashboardId: number): void {
  records.move(tileId, dashboardId);
  checkTiles(records.list(dashboardId).map(({ body }) => body));
}

/** Throws if a dashboard cannot have all of these; what was written is undone then. */
function checkTiles(tiles: readonly JsonObject[]): void {
  const characters = tiles.reduce((sum, tile) => sum + JSON.stringify(tile).length, 0);
  if (tiles.length > maximumTiles || characters > maximumCharacters)
    throw invalid(
      undefined,
      `A dashboard has at most ${maximumTiles} tiles of ${maximumCharacters} characters together.`,
    );
}
