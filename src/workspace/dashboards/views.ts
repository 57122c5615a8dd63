import { type JsonObject, pick } from '../json.ts';
import type { Stored } from '../records.ts';
import type { Store } from '../store.ts';

/** The fields of the list view. */
const listFields = [
  'id',
  'name',
  'description',
  'pinned',
  'created_at',
  'created_by',
  'is_shared',
  'deleted',
  'creation_mode',
  'tags',
  'restriction_level',
  'effective_restriction_level',
  'effective_privilege_level',
];

/** The fields that requests can set and answers tell; the others are write-only. */
const storedFields = ['name', 'description', 'pinned', 'filters', 'tags', 'restriction_level'];

/** What a new dashboard is made of, beside the fields of the request. */
export interface DashboardOrigin {
  readonly created_at: string;
  readonly created_by: JsonObject | null;
  readonly creation_mode: 'default' | 'template' | 'duplicate';
}

/** Every stored field of a new dashboard. */
export function newDashboard(origin: DashboardOrigin, request: JsonObject): JsonObject {
  const fields = pick(request, storedFields);
  return {
    name: null,
    description: '',
    pinned: false,
    is_shared: false,
    filters: {},
    tags: [],
    restriction_level: 21,
    ...origin,
    ...fields,
  };
}

/** The stored fields of `body` with those of a request over them. */
export function changedDashboard(body: JsonObject, request: JsonObject): JsonObject {
  return { ...body, ...pick(request, storedFields) };
}

/** A dashboard as lists show it. */
export function toListItem(dashboard: Stored): JsonObject {
  return pick(fieldsOf(dashboard), listFields);
}

/** A dashboard as every other answer shows it, with its tiles in the order in which they were added. */
export function toDetail(store: Store, dashboard: Stored): JsonObject {
  const tiles = store.tiles.list(dashboard.id).map(({ id, body }) => ({ id, ...body }));
  return { ...fieldsOf(dashboard), tiles };
}

function fieldsOf({ id, deleted, body }: Stored): JsonObject {
  return {
    id,
    ...body,
    deleted,
    effective_restriction_level: body.restriction_level,
    // The level of someone who may edit.
    effective_privilege_level: 37,
  };
}
