import type { DatabaseSync } from 'node:sqlite';
import { openDatabase, textIn } from './database.ts';
import { type JsonObject, parseObject } from './json.ts';
import { createRecords, type Records } from './records.ts';

/** Everything that is kept. */
export interface Store {
  readonly database: DatabaseSync;
  readonly projects: Records;
  /** An organization sees the global ones of others, too. */
  readonly plugins: Records;
  readonly dashboards: Records;
  readonly tiles: Records;
  /** Persons of a project who pass `filters`, which are property filters. */
  readonly cohorts: Records;
  /** Functions that store the example events of a project when these are first asked for, by the project's id. */
  readonly lateEvents: Map<number, () => void>;
  /** The properties of a project's groups of one type, by the key of the group. */
  readonly groupsOf: (projectId: number, typeIndex: number) => ReadonlyMap<string, JsonObject>;
}

/** Opens the store in a file, or `:memory:`. It is empty if it is new. */
export function openStore(path: string): Store {
  const database = openDatabase(path);
  const groups = database.prepare('SELECT key, properties FROM groups WHERE project_id = ? AND type_index = ?');
  return {
    database,
    projects: createRecords(database, 'projects'),
    plugins: createRecords(database, 'plugins', "(owner = ? OR body ->> '$.is_global')"),
    dashboards: createRecords(database, 'dashboards'),
    tiles: createRecords(database, 'tiles'),
    cohorts: createRecords(database, 'cohorts'),
    lateEvents: new Map(),
    groupsOf: (projectId, typeIndex) =>
      new Map(
        groups.all(projectId, typeIndex).map((row) => [textIn(row, 'key'), parseObject(textIn(row, 'properties'))]),
      ),
  };
}
