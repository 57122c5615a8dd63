import type { View } from '../loaders/row-store.ts';
import { UpstreamError } from '../rest/errors.ts';
import { mapNouns, type Noun } from '../rest/nouns.ts';
import type { ListRef, TablePage } from '../rest/pages.ts';
import type { Collection, Key } from '../rest/paths.ts';
import { idText, type Row } from '../rest/values.ts';

/** The results of relations that have already been started, by response key. */
export type StartedRelations = ReadonlyMap<string, Promise<unknown>>;

/** The facts of a record beside its collection. */
export interface RecordFacts {
  readonly id?: string | undefined;
  readonly row?: Row | undefined;
  readonly view?: View | undefined;
  readonly failure?: Error | undefined;
  readonly started?: StartedRelations | undefined;
  /**
   * The id of the project or organization that owns an object below `@current`, or the error if it cannot be read. The
   * global id of the object contains it.
   */
  readonly realOwnerId?: string | Error | undefined;
}

/**
 * The parent of resolvers of a REST object: the object's key, and the row with every column that its selection needs.
 * The fields that are columns are getters of the classes below, added by `attachColumns`.
 */
export class RowRecord {
  readonly noun: Noun;
  /** The id of the owning project or organization; empty for projects. */
  readonly scope: string;
  readonly row: Row;
  readonly view: View | undefined;
  /** The failure to read the columns that the row lacks. */
  readonly failure: Error | undefined;
  readonly started: StartedRelations | undefined;
  readonly knownId: string | undefined;
  readonly realOwnerId: string | Error | undefined;

  constructor({ noun, scope }: Collection, { id, row = noColumns, view, failure, started, realOwnerId }: RecordFacts) {
    this.noun = noun;
    this.scope = scope;
    this.row = row;
    this.view = view;
    this.failure = failure;
    this.started = started;
    this.knownId = id;
    this.realOwnerId = realOwnerId;
  }

  /** The key. Throws if the row has no id. Such a row does no harm as long as its key is not needed. */
  get key(): Key {
    const id = this.knownId ?? idText(this.row['id']);
    if (id === undefined) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
    return { noun: this.noun, scope: this.scope, id };
  }
}

const noColumns: Row = {};

/** A user as a dashboard's `created_by` shows it. The API has no operation to read a user. */
export class UserRecord {
  readonly row: Row;
  readonly failure = undefined;

  constructor(row: Row) {
    this.row = row;
  }
}

/** The class whose instances answer the fields of a type: each noun has its own, so that its columns can be getters. */
export const recordClasses = { ...mapNouns(() => class extends RowRecord {}), User: UserRecord } as const;

/** The record of an object of a collection. */
export function toRecord(collection: Collection, facts: RecordFacts): RowRecord {
  return new recordClasses[collection.noun](collection, facts);
}

/** The same record with the real id of its owner, which is a part of its global id. */
export function withOwnerId(record: RowRecord, realOwnerId: string | Error): RowRecord {
  const { knownId: id, row, view, failure, started } = record;
  return toRecord(record, { id, row, view, failure, started, realOwnerId });
}

/** The record of an organization, which is known by its id alone. */
export interface OrganizationRecord {
  readonly noun: 'Organization';
  readonly id: string;
  /**
   * The name in the row of the plugin that the organization was reached from; null if that row has no name. Undefined
   * without a plugin.
   */
  readonly name?: string | null;
}

/** An answer of the upstream whose shape the OpenAPI document does not describe. */
export interface ReportSource {
  readonly body: unknown;
}

/** A page of a table of events, and the list that it belongs to. */
export interface TableSource<Content> {
  readonly list: ListRef;
  readonly page: TablePage<Content>;
}

/** A page of events as CSV. */
export type CsvPageSource = TableSource<string>;
/** A page of rows with the values that `select` asks for. */
export type RowsPageSource = TableSource<readonly unknown[]>;

/** The answer to an action on a plugin: the plugin, or a report. */
export interface PluginActionSource extends ReportSource {
  readonly key: Key;
  readonly plugin: RowRecord | null;
}
