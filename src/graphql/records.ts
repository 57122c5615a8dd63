import type { View } from '../loaders/row-store.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { Key, Kind } from '../rest/paths.ts';
import { idText, type Row } from '../rest/values.ts';

/** What a resolver of a REST object gets as its parent: the object's key, and the row it came with, if any. */
export class RowRecord {
  readonly kind: Kind;
  /** The id of the owning project or organization; empty for projects. */
  readonly scope: string;
  readonly row: Row | undefined;
  readonly view: View | undefined;
  /** Why the row could not be read although relations of the object could: its columns fail with it. */
  readonly failure: Error | undefined;
  /** Relations that are under way already, by response key. */
  readonly started: ReadonlyMap<string, Promise<unknown>> | undefined;
  readonly #id: string | undefined;

  constructor(parts: {
    readonly kind: Kind;
    readonly scope: string;
    readonly id?: string | undefined;
    readonly row?: Row | undefined;
    readonly view?: View | undefined;
    readonly failure?: Error | undefined;
    readonly started?: ReadonlyMap<string, Promise<unknown>> | undefined;
  }) {
    this.kind = parts.kind;
    this.scope = parts.scope;
    this.#id = parts.id;
    this.row = parts.row;
    this.view = parts.view;
    this.failure = parts.failure;
    this.started = parts.started;
  }

  /** The upstream id. A row without one fails here, and only where its id is needed. */
  get id(): string {
    const id = this.#id ?? idText(this.row?.['id']);
    if (id === undefined) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
    return id;
  }

  get key(): Key {
    return { kind: this.kind, scope: this.scope, id: this.id };
  }
}

/** An organization is known by its id alone. */
export interface OrganizationRecord {
  readonly kind: 'Organization';
  readonly id: string;
  readonly started?: ReadonlyMap<string, Promise<unknown>> | undefined;
}

/** A user as a dashboard's `created_by` shows it; nothing can read one again. */
export interface UserRecord {
  readonly kind: 'User';
  readonly row: Row;
}

export type ProjectRecord = RowRecord;
export type DashboardRecord = RowRecord;
export type EventRecord = RowRecord;
export type PluginRecord = RowRecord;
