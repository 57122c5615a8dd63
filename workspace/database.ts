import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';

/** One row as SQLite answers it. */
export type Row = Record<string, SQLOutputValue>;

/**
 * Opens the database and makes its tables if they are missing. `path` is a file, or `:memory:`.
 *
 * An object whose fields only ever travel together is one JSON text, `body`; what queries look at is a column.
 */
export function openDatabase(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { timeout: lockTimeout });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    database.exec(tables);
    return database;
  } catch (cause) {
    // SQLite's own message does not say which file.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the workspace's database ${JSON.stringify(path)} cannot be used: ${reason}`, { cause });
  }
}

/** The longest time to wait for another process that holds the file, in milliseconds. */
const lockTimeout = 2000;

const tables = `
  CREATE TABLE IF NOT EXISTS organizations (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS users (
    id INTEGER PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations, key TEXT UNIQUE,
    level INTEGER NOT NULL, profile TEXT NOT NULL
  ) STRICT;
  ${objects('projects', 'organizations', 'TEXT')}
  ${objects('plugins', 'organizations', 'TEXT')}
  ${objects('dashboards', 'projects', 'INTEGER')}
  ${objects('tiles', 'dashboards', 'INTEGER')}
  ${objects('cohorts', 'projects', 'INTEGER')}
  CREATE TABLE IF NOT EXISTS plugin_sources (
    plugin_id INTEGER NOT NULL REFERENCES plugins ON DELETE CASCADE, name TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (plugin_id, name)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS plugin_configs (
    id INTEGER PRIMARY KEY, plugin_id INTEGER NOT NULL REFERENCES plugins ON DELETE CASCADE,
    project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, enabled INTEGER NOT NULL, config TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS plugin_activity (
    id INTEGER PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations, body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS persons (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, uuid TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS groups (
    project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, type_index INTEGER NOT NULL, key TEXT NOT NULL,
    properties TEXT NOT NULL, PRIMARY KEY (project_id, type_index, key)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS events (
    id TEXT PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, person_id INTEGER,
    event TEXT NOT NULL, distinct_id TEXT NOT NULL, timestamp INTEGER NOT NULL, properties TEXT NOT NULL,
    elements TEXT NOT NULL, elements_chain TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS events_of_project ON events (project_id, timestamp);
`;

/** A table that `records.ts` reads: objects that belong to one owner. Ids are never used twice. */
function objects(name: string, owners: string, ownerType: string): string {
  return `
  CREATE TABLE IF NOT EXISTS ${name} (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner ${ownerType} NOT NULL REFERENCES ${owners} ON DELETE CASCADE,
    deleted INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS ${name}_of_owner ON ${name} (owner, id);`;
}

/** Runs `work` so that either all or nothing of what it writes is kept. */
export function transact<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** The integer in a column. */
export function integerIn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`expected an integer in ${column}`);
  return value;
}

/** The text in a column. */
export function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`expected a text in ${column}`);
  return value;
}
