import { tableSizeOf, tableWindowOf } from '../graphql/connections.ts';
import { toEventQuery } from '../graphql/event-filter.ts';
import { parseIdWithin, parseOwnerId } from '../graphql/ids.ts';
import { refuseCurrent } from '../graphql/reach-refusals.ts';
import { suffices, type View } from '../loaders/row-store.ts';
import type { FieldOrigin } from '../look-ahead/field-origins.ts';
import { type Needs, needsOf, ownView } from '../look-ahead/needs.ts';
import { type ObjectSelection, type SelectedField } from '../look-ahead/selection-tree.ts';
import type { Noun } from '../rest/nouns.ts';
import { current } from '../rest/paths.ts';
import { planList } from './connection-plans.ts';
import {
  after,
  collectionAt,
  collectionText,
  isCurrent,
  mostOf,
  objectByKey,
  objectsText,
  type PlannedObjects,
  pathOf,
  type SelectedObjects,
  type Stage,
  toObjects,
} from './objects.ts';
import type { Arguments, PlanBuilder, PlannedField } from './plan-builder.ts';

/** Plans the selection on objects of the answer. Agrees with `resolvers/by-id.ts`, which reads the objects. */
export function planObjects(builder: PlanBuilder, selection: SelectedObjects): void {
  const { type } = selection.objects;
  if (type === 'Organization') planOrganization(builder, selection);
  else planRow(builder, type, selection);
}

/** Plans an organization. Its id is known. Its name is known only if it was reached from the row of a plugin. */
function planOrganization(builder: PlanBuilder, { objects, selection, path, existence }: SelectedObjects): void {
  const { stage, certain } = objects;
  for (const selected of selection.onNamed('Organization').fields) {
    const { kind } = selected.origin;
    const isNamed = existence === 'named' && kind === 'anyRow';
    if (isCurrent(objects) && kind === 'free') builder.planCurrent({ stage, certain, path });
    if (!isNamed) planField(builder, selected, objects, path);
  }
}

function planRow(builder: PlanBuilder, noun: Noun, place: SelectedObjects): void {
  const { objects, path, existence } = place;
  const selection = place.selection.onNamed(noun);
  const needs = needsOf(selection);
  const inRow: SelectedField[] = [];
  for (const selected of selection.fields) {
    const kind = selected.origin.kind;
    if (kind === 'reference' || kind === 'organizationOf') inRow.push(selected);
    else if (kind !== 'column' && kind !== 'free') planField(builder, selected, objects, path);
  }
  const view = viewOf(noun, needs, place);
  const planReferences = (stage: Stage): void => {
    for (const selected of inRow) planReference(builder, selected, { ...objects, stage }, path);
  };
  // Global ids of objects below `@current` contain the id of the real owner.
  const namesCurrent = isCurrent(objects.owner) && needs.globalId;
  const onArrival =
    noun === 'Plugin' && namesCurrent
      ? // The rows of most plugins name their organization, so this read may not be needed.
        (stage: Stage) => builder.planCurrent({ stage, certain: false, path }, planReferences)
      : planReferences;
  if (view === undefined) onArrival(objects.stage);
  else {
    const when = existence === 'answered' ? 'not in the answer' : undefined;
    builder.rows.want({ noun, objects, view, path, when, onArrival });
  }
  if (noun !== 'Plugin' && existence !== 'listed' && namesCurrent) builder.planCurrent({ ...objects, path });
  if (view === 'detail') addHints(builder, selection, place);
  // If all relations of an object answer 404, its row shows if the object exists.
  const later = { ...objects, stage: after(objects.stage), certain: false };
  if (view === undefined && existence === 'unknown') builder.rows.wantIfAbsent({ noun, objects: later, path });
}

/** The view in which the objects' own rows have to be read; undefined if they need no such row. */
function viewOf(noun: Noun, needs: Needs, { objects, existence }: SelectedObjects): View | undefined {
  const own = { noun, id: objects.id, scope: objects.owner?.id };
  if (existence === 'unknown') return ownView(own, needs, existence);
  if (existence === 'assumed' || existence === 'answered') return ownView(own, needs, 'assumed');
  const isThere = needs.view === undefined || objects.view === undefined || suffices(objects.view, needs.view);
  return isThere ? undefined : needs.view;
}

/** Plans the objects that a column refers to, at most one for each row. */
function planReference(
  builder: PlanBuilder,
  selected: SelectedField,
  objects: PlannedObjects,
  parentPath: string,
): void {
  const { origin, below: selection, field } = selected;
  const path = pathOf(parentPath, selected);
  const { stage, owner } = objects;
  const facts = { group: `${objectsText(objects)}.${field.name}`, ownerCount: mostOf(objects), stage };
  if (origin.kind === 'organizationOf') {
    const isPlugin = objects.type === 'Plugin';
    // A plugin whose row names no organization belongs to the organization whose list it is in.
    if (isPlugin && isCurrent(owner)) builder.planCurrent({ stage, certain: false, path });
    const existence = isPlugin ? 'named' : 'assumed';
    builder.plan({ objects: toObjects({ ...facts, type: 'Organization' }), selection, path, existence });
  } else if (origin.kind === 'reference') {
    const { noun } = origin.endpoint;
    // Dashboards and projects only refer to dashboards of their own project.
    const isSibling = noun === objects.type;
    const [ownerCount, to] = isSibling ? [objects.ownerCount, objects.to - objects.from] : [mostOf(objects), 1];
    const referred = toObjects({ ...facts, type: noun, owner: isSibling ? owner : objects, ownerCount, to });
    builder.plan({ objects: referred, selection, path, existence: 'assumed' });
  }
}

/** The maximum number of hints. */
const mostHints = 50;

/** Adds a hint for each column that makes many objects read a row of their own. */
function addHints(builder: PlanBuilder, { fields }: ObjectSelection, { objects, path }: SelectedObjects): void {
  const count = mostOf(objects);
  if (builder.hints.size >= mostHints || count < 2 || (objects.view !== undefined && suffices(objects.view, 'detail')))
    return;
  for (const { field, origin } of fields) {
    const isDetail = (origin.kind === 'column' || origin.kind === 'reference') && origin.view === 'detail';
    if (isDetail) builder.hints.add(`\`${field.name}\` of ${path} is in the detail view only: up to ${count} calls`);
  }
}

/**
 * Plans a field that no row holds, and the selection below it. Agrees with `resolvers/project.ts`,
 * `resolvers/organization.ts` and `resolvers/event.ts`.
 */
function planField(builder: PlanBuilder, selected: SelectedField, parent: PlannedObjects, parentPath: string): void {
  const path = pathOf(parentPath, selected);
  builder.countStep(path);
  const { stage, certain, owner } = parent;
  if (selected.origin.kind !== 'owner') planByOrigin({ builder, selected, parent, stage, certain, path });
  else if (owner !== undefined)
    builder.plan({ objects: { ...owner, stage, certain }, selection: selected.below, path, existence: 'assumed' });
}

/** Plans a field that has a REST call of its own. */
export function planByOrigin(planned: Omit<PlannedField, 'endpoint'>): void {
  const { origin } = planned.selected;
  const plan = plans[origin.kind];
  if (plan === undefined || !('endpoint' in origin)) return;
  planned.builder.withArguments(planned.selected, (args) => plan({ ...planned, endpoint: origin.endpoint }, args));
}

const plans: Partial<Record<FieldOrigin['kind'], (planned: PlannedField, args: Arguments) => void>> = {
  byId: planById,
  list: planList,
  anyRow: planAnyRow,
  table: planTable,
  text: planText,
  report: planReport,
};

function planById(planned: PlannedField, args: Arguments): void {
  const { builder, selected, path } = planned;
  withObjects(planned, args, (objects) =>
    builder.plan({ objects, selection: selected.below, path, existence: 'unknown' }),
  );
}

/** Plans an object that is answered as one text. */
function planText(planned: PlannedField, args: Arguments): void {
  withObjects(planned, args, (objects) => {
    const { stage, certain } = objects;
    planRead({ ...planned, parent: objects, stage, certain }, `${planned.endpoint.id} as text`, 1);
  });
}

function withObjects(planned: PlannedField, args: Arguments, plan: (objects: PlannedObjects) => void): void {
  const { builder, path, stage, certain, parent } = planned;
  const objects = objectsById(planned, args.id ?? '');
  const namesOwner = isCurrent(parent) && objects.owner !== undefined && !isCurrent(objects.owner);
  if (!namesOwner) return plan(objects);
  // A global id below `@current` is used only after its owner has been compared with the real one.
  builder.planCurrent({ stage, certain, path }, (arrival) => plan({ ...objects, stage: arrival, certain: false }));
}

/** The objects that an argument names: one object, or one for each possible owner if the owner's id is unknown. */
function objectsById(
  { builder, endpoint: { noun }, parent, stage, certain }: PlannedField,
  id: string,
): PlannedObjects {
  if (parent === undefined || noun === 'Project') {
    refuseCurrent(builder.reach, id, 'id');
    return objectByKey({ type: 'Project', scope: '', id: parseOwnerId('Project', id, 'id') }, stage, certain);
  }
  const { scope, id: own } = parseIdWithin({ noun, scope: parent.id ?? current }, id, 'id');
  if (parent.id !== undefined) {
    const object = objectByKey({ type: noun, scope, id: own }, stage, certain);
    return parent.id === scope ? { ...object, owner: parent } : object;
  }
  const group = `${collectionText(noun, parent)} ${own}`;
  return toObjects({ type: noun, group, id: own, owner: parent, stage });
}

/** Plans a value that every row of a list holds. */
function planAnyRow({ builder, endpoint, parent, stage, certain, path }: PlannedField): void {
  const of = collectionAt(endpoint.noun, parent);
  const any = { list: of.collection, ownerCount: mostOf(parent), offset: 0, limit: 1, anyRow: true };
  builder.lists.want({ ...of, ...any, certain, stage, path });
}

function planReport(planned: PlannedField, args: Arguments): void {
  const cursor = args.after ?? undefined;
  if (cursor !== undefined) planned.builder.options.cursors.decodeQuery('activity', cursor, 'after');
  const given = Object.entries<unknown>({ ...args }).filter(([, value]) => value !== null);
  const name = `${planned.selected.field.name} ${JSON.stringify(given)}`;
  planRead(planned, name, 0);
  const { builder, selected, parent, endpoint, stage, path } = planned;
  if (parent === undefined || selected.inside?.type.name !== endpoint.noun) return;
  // Only the answer shows how many rows the report names. The plan assumes a page of the maximum size.
  const objects = toObjects({
    type: endpoint.noun,
    group: `${endpoint.id} of ${objectsText(parent)}`,
    to: builder.options.maxPageSize,
    owner: parent,
    ownerCount: mostOf(planned.parent),
    stage: after(stage),
  });
  builder.plan({ objects, selection: selected.below, path, existence: 'assumed' });
}

/** Plans one call for each object of `parent`. Reads of one object with the same `name` are one call. */
function planRead({ builder, endpoint, parent, stage, certain, path }: PlannedField, name: string, rows: number): void {
  if (parent === undefined) return;
  const count = builder.calls.markRead(name, parent);
  const lower = certain ? count : 0;
  builder.calls.add({ endpoint, stage, lower, upper: count, rows: rows * count, paths: [path] });
}

/** Plans a page of events that is answered as one value. */
function planTable(planned: PlannedField, args: Arguments): void {
  const { builder, selected, parent, certain } = planned;
  const { maxPageSize } = builder.options;
  const cursor = args.after ?? undefined;
  const form = selected.field.name === 'eventsCsv' ? 'csv' : 'rows';
  const list = { noun: 'Event', filter: toEventQuery(args.filter, args.select), form } as const;
  const rows = tableSizeOf(args.first, maxPageSize);
  const scope = parent?.id;
  if (scope === undefined && cursor !== undefined) {
    // The cursor may belong to the list of any owner, so no call is certain.
    return planRead({ ...planned, certain: false }, JSON.stringify([list, rows, cursor]), rows);
  }
  const { at } = tableWindowOf({ ...list, scope: scope ?? '' }, args, builder.options);
  // Without a `select`, a connection may read the same page, so this call is not certain.
  const isPage = form === 'rows' && list.filter.select === undefined;
  planRead({ ...planned, certain: certain && !isPage }, JSON.stringify([list, rows, at]), rows);
}
