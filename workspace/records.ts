import type { DatabaseSync } from 'node:sqlite';
import { integerIn, type Row, textIn } from './database.ts';
import { type JsonObject, parseObject } from './json.ts';

/** The owner of an object: an organization's UUID, or the id of a project or dashboard. */
export type Owner = string | number;

/** An object as it is stored: `body` holds every field but `id`. */
export interface Stored {
  readonly id: number;
  readonly owner: Owner;
  readonly deleted: boolean;
  readonly body: JsonObject;
}

/** The objects of one table, in order of their ids. Soft-deleted ones are found by id, but neither listed nor counted. */
export interface Records {
  readonly find: (owner: Owner, id: number) => Stored | undefined;
  readonly count: (owner: Owner) => number;
  readonly list: (owner: Owner, limit?: number, offset?: number) => readonly Stored[];
  /** Answers the id. */
  readonly insert: (owner: Owner, body: JsonObject) => number;
  readonly update: (id: number, body: JsonObject) => void;
  readonly softDelete: (id: number, deleted: boolean) => void;
  readonly move: (id: number, owner: Owner) => void;
  readonly remove: (id: number) => void;
}

/** The tables that hold objects of one owner. */
export type RecordTable = 'projects' | 'plugins' | 'dashboards' | 'tiles' | 'cohorts';

/** Prepares what is asked of `table`. `visible` is the SQL condition of what an owner, its only parameter, can see. */
export function createRecords(database: DatabaseSync, table: RecordTable, visible = 'owner = ?'): Records {
  const find = database.prepare(`SELECT * FROM ${table} WHERE ${visible} AND id = ?`);
  const count = database.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${visible} AND NOT deleted`);
  const list = database.prepare(`SELECT * FROM ${table} WHERE ${visible} AND NOT deleted ORDER BY id LIMIT ? OFFSET ?`);
  const insert = database.prepare(`INSERT INTO ${table} (owner, body) VALUES (?, ?)`);
  const update = database.prepare(`UPDATE ${table} SET body = ? WHERE id = ?`);
  const softDelete = database.prepare(`UPDATE ${table} SET deleted = ? WHERE id = ?`);
  const move = database.prepare(`UPDATE ${table} SET owner = ? WHERE id = ?`);
  const remove = database.prepare(`DELETE FROM ${table} WHERE id = ?`);
  return {
    find: (owner, id) => {
      const row = find.get(owner, id);
      return row && toStored(row);
    },
    count: (owner) => Number(count.get(owner)?.count),
    list: (owner, limit = -1, offset = 0) => list.all(owner, limit, offset).map(toStored),
    insert: (owner, body) => Number(insert.run(owner, JSON.stringify(body)).lastInsertRowid),
    update: (id, body) => void update.run(JSON.stringify(body), id),
    softDelete: (id, deleted) => void softDelete.run(Number(deleted), id),
    move: (id, owner) => void move.run(owner, id),
    remove: (id) => void remove.run(id),
  };
}

function toStored(row: Row): Stored {
  return {
    id: integerIn(row, 'id'),
    owner: typeof row.owner === 'number' ? row.owner : textIn(row, 'owner'),
    deleted: row.deleted === 1,
    body: parseObject(textIn(row, 'body')),
  };
}
