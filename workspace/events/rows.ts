import type { SQLInputValue } from 'node:sqlite';
import { integerIn, type Row, textIn, transact } from '../database.ts';
import { arrayOf, type JsonObject, parseJson, parseObject } from '../json.ts';
import type { Store } from '../store.ts';
import { toEventTimestamp } from '../timestamps.ts';

/** An event as answers tell it. */
export interface EventRow {
  readonly id: string;
  readonly distinct_id: string;
  readonly properties: JsonObject;
  readonly event: string;
  readonly timestamp: string;
  /** Null if the visitor was not identified. */
  readonly person: JsonObject | null;
  readonly elements: readonly unknown[];
  readonly elements_chain: string;
}

/** Conditions that an index or a column answers; every present member must hold. Times are microseconds since 1970. */
export interface EventSearch {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly distinctId?: string | undefined;
  /** UUID or number of a person. */
  readonly personId?: string | undefined;
}

/** The events of a project, newest first, read one by one; equal timestamps in the order of their ids. */
export function findEvents(store: Store, projectId: number, search: EventSearch): IteratorObject<EventRow> {
  storeLateEvents(store, projectId);
  const [conditions, values] = conditionsOf(search);
  const statement = store.database.prepare(`
    SELECT events.*, persons.uuid AS person_uuid, persons.body AS person
    FROM events LEFT JOIN persons ON persons.id = events.person_id
    WHERE events.project_id = ?${conditions} ORDER BY timestamp DESC, events.id`);
  return statement.iterate(projectId, ...values).map(toEvent);
}

function storeLateEvents({ database, lateEvents }: Store, projectId: number): void {
  const seed = lateEvents.get(projectId);
  if (seed === undefined) return;
  transact(database, seed);
  lateEvents.delete(projectId);
}

function conditionsOf(search: EventSearch): [string, SQLInputValue[]] {
  const conditions: readonly [string, SQLInputValue | undefined][] = [
    ['timestamp > ?', search.after],
    ['timestamp < ?', search.before],
    ['events.id = ?', search.id],
    ['event = ?', search.event],
    ['distinct_id = ?', search.distinctId],
    ['? IN (persons.uuid, CAST(persons.id AS TEXT))', search.personId],
  ];
  const present = conditions.filter(([, value]) => value !== undefined);
  return [present.map(([sql]) => ` AND ${sql}`).join(''), present.map(([, value]) => value ?? null)];
}

function toEvent(row: Row): EventRow {
  return {
    id: textIn(row, 'id'),
    distinct_id: textIn(row, 'distinct_id'),
    properties: parseObject(textIn(row, 'properties')),
    event: textIn(row, 'event'),
    timestamp: toEventTimestamp(integerIn(row, 'timestamp')),
    person: typeof row.person === 'string' ? toPerson(row, row.person) : null,
    elements: arrayOf(parseJson(textIn(row, 'elements'))),
    elements_chain: textIn(row, 'elements_chain'),
  };
}

function toPerson(row: Row, body: string): JsonObject {
  return { id: row.person_id, uuid: row.person_uuid, ...parseObject(body) };
}
