import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import { createRecords, type Records } from './records.ts';

/** Everything that is kept. */
export interface Store {
  readonly database: DatabaseSync;
  readonly projects: Records;
  readonly plugins: Records;
  readonly dashboards: Records;
  readonly tiles: Records;
}

/** Opens the store in a file, or `:memory:`. It is empty if it is new. */
export function openStore(path: string): Store {
  const database = openDatabase(path);
  return {
    database,
    projects: createRecords(database, 'projects'),
    plugins: createRecords(database, 'plugins'),
    dashboards: createRecords(database, 'dashboards'),
    tiles: createRecords(database, 'tiles'),
  };
}
