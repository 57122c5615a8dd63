import type { Call, User } from '../call.ts';
import { type JsonObject, pick } from '../json.ts';
import type { Stored } from '../records.ts';
import { levels, mayEdit } from './permissions.ts';

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

/** The fields that requests can set, but for `deleted`. */
const storedFields = [
  'name',
  'description',
  'pinned',
  'use_template',
  'use_dashboard',
  'delete_insights',
  'filters',
  'tags',
  'restriction_level',
];

/** The values of a new dashboard beside the fields of the request. */
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
    use_template: '',
    use_dashboard: null,
    delete_insights: false,
    filters: {},
    tags: [],
    restriction_level: levels.everyone,
    ...origin,
    ...fields,
  };
}

/** The stored fields of `body` with those of a request over them. */
export function changedDashboard(body: JsonObject, request: JsonObject): JsonObject {
  return { ...body, ...pick(request, storedFields) };
}

/** A dashboard as lists show it. */
export function toListItem(user: User, dashboard: Stored): JsonObject {
  return pick(fieldsOf(user, dashboard), listFields);
}

/** A dashboard as every other answer shows it, with its tiles in the order in which they were added. */
export function toDetail({ store, user }: Pick<Call, 'store' | 'user'>, dashboard: Stored): JsonObject {
  const tiles = store.tiles.list(dashboard.id).map(({ id, body }) => ({ id, ...body }));
  return { ...fieldsOf(user, dashboard), tiles };
}

function fieldsOf(user: User, dashboard: Stored): JsonObject {
  const { id, deleted, body } = dashboard;
  return {
    id,
    ...body,
    deleted,
    effective_restriction_level: body.restriction_level,
    effective_privilege_level: mayEdit(user, dashboard) ? levels.invited : levels.everyone,
  };
}
