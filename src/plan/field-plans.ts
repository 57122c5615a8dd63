import { isEventFilter, toEventQuery } from '../graphql/event-filter.ts';
import { parseIdWithin, parseOwnerId } from '../graphql/ids.ts';
import { refuseCurrent } from '../graphql/narrowing.ts';
import { tableSizeOf, tableWindowOf } from '../graphql/table-arguments.ts';
import type { Role } from '../look-ahead/roles.ts';
import { type SelectedField } from '../look-ahead/selection-tree.ts';
import type { ListRef } from '../rest/pages.ts';
import { current, type Key } from '../rest/paths.ts';
import { planList } from './connection-plans.ts';
import { after, collectionText, isCurrent, isOwnerKnown, keyed, type Objects, textOf, toObjects } from './objects.ts';
import { type Arguments, type PlanBuilder, pathOf } from './plan-builder.ts';
import { collectionOf, ownersOf, type PlanField, type PlannedField, planRead } from './planned-field.ts';

/**
 * Plans a field of objects that no row holds: its read, and the selection below it. Agrees with the resolvers of such
 * fields (`resolvers/project.ts`, `resolvers/organization.ts`, `resolvers/event.ts`).
 */
export function planField(builder: PlanBuilder, selected: SelectedField, parent: Objects, parentPath: string): void {
  const path = pathOf(parentPath, selected);
  builder.steps.take(path);
  if (selected.role.kind === 'owner') planOwner(builder, selected, parent, path);
  else planByRole({ builder, selected, parent, stage: parent.stage, certain: parent.certain, path });
}

/** Plans a field that has a REST call of its own. */
export function planByRole(planned: Omit<PlannedField, 'endpoint'>): void {
  const { role } = planned.selected;
  const plan = plans[role.kind];
  if (plan === undefined || !('endpoint' in role)) return;
  planned.builder.withArguments(planned.selected, (args) => plan({ ...planned, endpoint: role.endpoint }, args));
}

const plans: Partial<Record<Role['kind'], PlanField>> = {
  byId: planById,
  list: planList,
  anyRow: planAnyRow,
  table: planTable,
  text: planText,
  report: planReport,
};

function planOwner(
  builder: PlanBuilder,
  { below: selection }: SelectedField,
  { owner, stage, certain }: Objects,
  path: string,
): void {
  if (owner !== undefined) builder.plan({ objects: { ...owner, stage, certain }, selection, path, known: 'assumed' });
}

function planById(planned: PlannedField, args: Arguments): void {
  const { builder, selected, path } = planned;
  const selection = selected.below;
  withObjects(planned, args, (objects) => builder.plan({ objects, selection, path, known: 'unknown' }));
}

/** Plans an object that is answered as one value and read by its own call. */
function planText(planned: PlannedField, args: Arguments): void {
  const { builder, endpoint, path } = planned;
  withObjects(planned, args, (objects) => {
    const { stage, certain } = objects;
    const count = builder.calls.claim(`${endpoint.operation} as text`, objects);
    builder.calls.add({ endpoint, stage, lower: certain ? count : 0, upper: count, rows: count, paths: [path] });
  });
}

/** Plans a field of the objects that the argument `id` names. */
function withObjects(planned: PlannedField, args: Arguments, plan: (objects: Objects) => void): void {
  const { builder, path, stage, certain, parent } = planned;
  const objects = objectsById(planned, args.text('id') ?? '');
  const isClaimed = isCurrent(parent) && objects.owner !== undefined && !isCurrent(objects.owner);
  if (!isClaimed) return plan(objects);
  // A global id below `@current` is used only after its project or organization has been checked.
  builder.planCurrent({ stage, certain, path }, (arrival) => plan({ ...objects, stage: arrival, certain: false }));
}

/** The objects that an argument names: one, or one at each owner if the id of the owner is unknown. */
function objectsById({ builder, endpoint: { noun }, parent, stage, certain }: PlannedField, id: string): Objects {
  if (parent === undefined || noun === 'Project') {
    refuseCurrent(builder.reach, id, 'id');
    return keyed({ noun: 'Project', scope: '', id: parseOwnerId('Project', id, 'id') }, stage, certain);
  }
  const key: Key = parseIdWithin({ noun, scope: parent.id ?? current }, id, 'id');
  if (parent.id === key.scope) return { ...keyed(key, stage, certain), owner: parent };
  if (parent.id !== undefined) return keyed(key, stage, certain);
  const group = `${collectionText(noun, parent)} ${key.id}`;
  return toObjects({ type: noun, group, id: key.id, owner: parent, stage });
}

/** Plans a value that any row of a list holds. If no other row is read, a page of one row is. */
function planAnyRow(planned: PlannedField): void {
  const { builder, endpoint, stage, certain, path } = planned;
  const collection = collectionOf(planned);
  builder.lists.want({
    noun: endpoint.noun,
    collection,
    isKnown: isOwnerKnown(planned.parent),
    list: collection,
    owners: ownersOf(planned),
    offset: 0,
    limit: 1,
    countOnly: false,
    anyRow: true,
    certain,
    stage,
    path,
    done: () => undefined,
  });
}

function planReport(planned: PlannedField, args: Arguments): void {
  const cursor = args.text('after');
  if (cursor !== undefined) planned.builder.options.cursors.decodeQuery('activity', cursor, 'after');
  const given = Object.entries(args.all).filter(([, value]) => value !== null);
  const name = `${planned.selected.field.name} ${JSON.stringify(given)}`;
  planRead(planned, { name, rows: 0 });
  const { builder, selected, parent, endpoint, stage, path } = planned;
  if (parent === undefined || selected.inside?.type.name !== endpoint.noun) return;
  // Only the answer of a report says how many rows it names. A page of the maximum size is planned.
  const objects = toObjects({
    type: endpoint.noun,
    group: `${endpoint.operation} of ${textOf(parent)}`,
    to: builder.options.maxPageSize,
    owner: parent,
    owners: ownersOf(planned),
    stage: after(stage),
  });
  builder.plan({ objects, selection: selected.below, path, known: 'assumed' });
}

/** Plans a page of events that is answered as one value. */
function planTable(planned: PlannedField, args: Arguments): void {
  const { builder, selected, parent, certain } = planned;
  const { maxPageSize } = builder.options;
  const cursor = args.text('after');
  const list = { ...listOf(args), table: selected.field.name === 'eventsCsv' ? ('csv' as const) : ('rows' as const) };
  const rows = tableSizeOf(args.number('first'), maxPageSize);
  const scope = parent?.id;
  if (scope === undefined && cursor !== undefined) {
    // If the owner of a list is unknown, a cursor fits at most one list, unless it was made below `@current`.
    const isAny = builder.options.cursors.isOfCurrent(cursor);
    const name = JSON.stringify([list, rows, cursor]);
    return planRead({ ...planned, certain: false }, { name, rows, ...(!isAny && { atMost: 1 }) });
  }
  const { at } = tableWindowOf({ ...list, scope: scope ?? '' }, args.connection, builder.options);
  // Rows without a `select` are the page that a connection may read.
  const isPage = list.table === 'rows' && list.filter?.select === undefined;
  planRead({ ...planned, certain: certain && !isPage }, { name: JSON.stringify([list, rows, at]), rows });
}

function listOf(args: Arguments): Pick<ListRef, 'noun' | 'filter'> {
  const { filter } = args.all;
  return { noun: 'Event', filter: toEventQuery(isEventFilter(filter) ? filter : undefined, args.texts('select')) };
}
