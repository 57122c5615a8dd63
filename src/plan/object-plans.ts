import { suffices, type View } from '../loaders/row-store.ts';
import { type Needs, needsOf, ownView } from '../look-ahead/needs.ts';
import { type ObjectSelection, type SelectedField } from '../look-ahead/selection-tree.ts';
import type { Noun } from '../rest/nouns.ts';
import { planField } from './field-plans.ts';
import {
  after,
  isCurrent,
  most,
  type Objects,
  type SelectedObjects,
  type Stage,
  textOf,
  toObjects,
} from './objects.ts';
import { type PlanBuilder, pathOf } from './plan-builder.ts';

/** Plans the selection on objects of the answer. Agrees with `resolvers/by-id.ts`, which reads them. */
export function planObjects(builder: PlanBuilder, selection: SelectedObjects): void {
  const { type } = selection.objects;
  if (type === 'Organization') planOrganization(builder, selection);
  else planRow(builder, type, selection);
}

/**
 * Plans an organization, which is known by its id alone. If a plugin names it, its name comes with the plugin's row.
 */
function planOrganization(builder: PlanBuilder, { objects, selection, path, known }: SelectedObjects): void {
  const { stage, certain } = objects;
  for (const selected of selection.on(builder.type('Organization')).fields) {
    const { kind } = selected.role;
    const isNamed = known === 'named' && kind === 'anyRow';
    if (isCurrent(objects) && kind === 'free') builder.planCurrent({ stage, certain, path });
    if (!isNamed) planField(builder, selected, objects, path);
  }
}

function planRow(builder: PlanBuilder, noun: Noun, place: SelectedObjects): void {
  const { objects, path, known } = place;
  const selection = place.selection.on(builder.type(noun));
  const needs = needsOf(selection);
  const inRow: SelectedField[] = [];
  for (const selected of selection.fields) {
    const role = selected.role.kind;
    if (role === 'reference' || role === 'organizationOf') inRow.push(selected);
    else if (role !== 'column' && role !== 'free') planField(builder, selected, objects, path);
  }
  const view = viewOf(noun, needs, place);
  const planReferences = (stage: Stage): void => {
    for (const selected of inRow) planReference(builder, selected, { ...objects, stage }, path);
  };
  // Ids below `@current` name the project or organization that it stands for.
  const namesCurrent = isCurrent(objects.owner) && needs.globalId;
  const done =
    noun === 'Plugin' && namesCurrent
      ? // Their rows mostly have it. What waits for such an id goes on after that.
        (stage: Stage) => builder.planCurrent({ stage, certain: false, path }, planReferences)
      : planReferences;
  if (view === undefined) done(objects.stage);
  else builder.rows.want({ ...(known === 'answered' && unanswered), noun, objects, view, path, done });
  if (noun !== 'Plugin' && known !== 'listed' && namesCurrent) builder.planCurrent({ ...objects, path });
  if (view === 'detail') addHints(builder, selection, place);
  if (view === undefined && known === 'unknown') planProof(builder, noun, place);
}

const unanswered = { when: 'not in the answer' } as const;

/** The view of their own row that the objects need; undefined if they come with a row that has what is needed. */
function viewOf(noun: Noun, needs: Needs, { objects, known }: SelectedObjects): View | undefined {
  const own = { type: noun, id: objects.id, scope: objects.owner?.id };
  if (known === 'unknown') return ownView(own, needs, known);
  if (known === 'assumed' || known === 'answered') return ownView(own, needs, 'assumed');
  const isThere = needs.view === undefined || objects.view === undefined || suffices(objects.view, needs.view);
  return isThere ? undefined : needs.view;
}

/** Plans the read that decides whether an object exists: its row is read if all of its relations answer 404. */
function planProof(builder: PlanBuilder, noun: Noun, { objects, path }: SelectedObjects): void {
  const later = { ...objects, stage: after(objects.stage), certain: false };
  builder.rows.wantIfAbsent({ noun, objects: later, view: 'list', path, when: 'absent', done: () => undefined });
}

/** Plans the objects that a column refers to, at most one for each row. */
function planReference(builder: PlanBuilder, selected: SelectedField, objects: Objects, parentPath: string): void {
  const { role, below: selection, field } = selected;
  const path = pathOf(parentPath, selected);
  const { stage, owner } = objects;
  const facts = { group: `${textOf(objects)}.${field.name}`, owners: most(objects), stage };
  if (role.kind === 'organizationOf') {
    const isPlugin = objects.type === 'Plugin';
    // A plugin that names no organization belongs to the one that lists it.
    if (isPlugin && isCurrent(owner)) builder.planCurrent({ stage, certain: false, path });
    const known = isPlugin ? 'named' : 'assumed';
    builder.plan({ objects: toObjects({ ...facts, type: 'Organization' }), selection, path, known });
  } else if (role.kind === 'reference') {
    const { noun } = role.endpoint;
    // Dashboards and projects only refer to dashboards of their own project.
    const isSibling = noun === objects.type;
    const [owners, to] = isSibling ? [objects.owners, objects.to - objects.from] : [most(objects), 1];
    const referred = toObjects({ ...facts, type: noun, owner: isSibling ? owner : objects, owners, to });
    builder.plan({ objects: referred, selection, path, known: 'assumed' });
  }
}

/** The most hints. More would help no reader. */
const mostHints = 50;

/** Adds a hint for each column that makes many objects read a row of their own. Aliases of a column share one hint. */
function addHints(builder: PlanBuilder, { fields }: ObjectSelection, { objects, path }: SelectedObjects): void {
  const count = most(objects);
  if (builder.hints.size >= mostHints || count < 2 || (objects.view !== undefined && suffices(objects.view, 'detail')))
    return;
  for (const { field, role } of fields) {
    const isDetail = (role.kind === 'column' || role.kind === 'reference') && role.view === 'detail';
    if (isDetail) builder.hints.add(`\`${field.name}\` of ${path} is in the detail view only: up to ${count} calls`);
  }
}
