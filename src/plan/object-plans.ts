import type { GraphQLObjectType } from 'graphql';
import { suffices, type View } from '../loaders/row-store.ts';
import { ownView } from '../look-ahead/needs.ts';
import { roleOf } from '../look-ahead/roles.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
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

/** Plans what is selected on objects of the answer. Agrees with `resolvers/by-id.ts`, which reads it. */
export function planObjects(builder: PlanBuilder, selection: SelectedObjects): void {
  const { type } = selection.objects;
  if (type === 'Organization') planOrganization(builder, selection);
  else planRow(builder, type, selection);
}

/** An organization is known by its id alone. The name of one that a plugin names comes with the plugin's row. */
function planOrganization(builder: PlanBuilder, { objects, nodes, path, known }: SelectedObjects): void {
  const type = builder.type('Organization');
  const { stage, certain } = objects;
  for (const selected of builder.fields(type, { nodes })) {
    const { kind } = roleOf(type, selected.field);
    const isNamed = known === 'named' && kind === 'anyRow';
    if (isCurrent(objects) && kind === 'free') builder.planCurrent({ stage, certain, path });
    if (!isNamed) planField(builder, type, selected, objects, path);
  }
}

function planRow(builder: PlanBuilder, noun: Noun, selection: SelectedObjects): void {
  const { objects, path, known } = selection;
  const type = builder.type(noun);
  const inRow: SelectedField[] = [];
  for (const selected of builder.fields(type, selection)) {
    const role = roleOf(type, selected.field).kind;
    if (role === 'reference' || role === 'organizationOf') inRow.push(selected);
    else if (role !== 'column' && role !== 'free') planField(builder, type, selected, objects, path);
  }
  const view = viewOf(builder, noun, selection);
  const planReferences = (stage: Stage): void => {
    for (const selected of inRow) planReference(builder, type, selected, { ...objects, stage }, path);
  };
  const done =
    noun === 'Plugin'
      ? (stage: Stage) => planScopeOfPlugins(builder, selection, stage, planReferences)
      : planReferences;
  if (view === undefined) done(objects.stage);
  else builder.rows.want({ ...(known === 'answered' && unanswered), noun, objects, view, path, done });
  if (noun !== 'Plugin' && known !== 'listed') planScope(builder, selection);
  if (view === 'detail') addHints(builder, selection);
  if (view === undefined && known === 'unknown') planProof(builder, noun, selection);
}

const unanswered = { when: 'not in the answer' } as const;

/** The view of their own row that the objects are answered with; undefined if they come with a row that has what is needed. */
function viewOf(builder: PlanBuilder, noun: Noun, { objects, nodes, known }: SelectedObjects): View | undefined {
  const needs = builder.needs(builder.type(noun), nodes);
  const own = { type: noun, id: objects.id, scope: objects.owner?.id };
  if (known === 'unknown') return ownView(own, needs, known);
  if (known === 'assumed' || known === 'answered') return ownView(own, needs, 'assumed');
  const isThere = needs.view === undefined || objects.view === undefined || suffices(objects.view, needs.view);
  return isThere ? undefined : needs.view;
}

/** If all relations answer 404, one read of the row decides whether the object exists. */
function planProof(builder: PlanBuilder, noun: Noun, { objects, path }: SelectedObjects): void {
  const later = { ...objects, stage: after(objects.stage), certain: false };
  builder.rows.wantIfAbsent({ noun, objects: later, view: 'list', path, when: 'absent', done: () => undefined });
}

/** Plans the objects that a column refers to, one at most of each. */
function planReference(
  builder: PlanBuilder,
  type: GraphQLObjectType,
  selected: SelectedField,
  objects: Objects,
  parentPath: string,
): void {
  const role = roleOf(type, selected.field);
  const { nodes, field } = selected;
  const path = pathOf(parentPath, selected);
  const { stage, owner } = objects;
  const parts = { group: `${textOf(objects)}.${field.name}`, owners: most(objects), stage };
  if (role.kind === 'organizationOf') {
    const isPlugin = type.name === 'Plugin';
    // A plugin that names no organization is of the one that lists it.
    if (isPlugin && isCurrent(owner)) builder.planCurrent({ stage, certain: false, path });
    const known = isPlugin ? 'named' : 'assumed';
    builder.plan({ objects: toObjects({ ...parts, type: 'Organization' }), nodes, path, known });
  } else if (role.kind === 'reference') {
    const { noun } = role.endpoint;
    // Dashboards refer to dashboards of their own project, projects to dashboards of their own.
    const isSibling = noun === objects.type;
    const [owners, to] = isSibling ? [objects.owners, objects.to - objects.from] : [most(objects), 1];
    const referred = toObjects({ ...parts, type: noun, owner: isSibling ? owner : objects, owners, to });
    builder.plan({ objects: referred, nodes, path, known: 'assumed' });
  }
}

/** More hints than this help no reader. */
const mostHints = 50;

/** Columns for which each of many objects is read, each once and by its own name, whatever its aliases. */
function addHints(builder: PlanBuilder, { objects, nodes, path }: SelectedObjects): void {
  const count = most(objects);
  if (builder.hints.size >= mostHints || count < 2 || (objects.view !== undefined && suffices(objects.view, 'detail')))
    return;
  const type = builder.type(objects.type);
  for (const { field } of builder.fields(type, { nodes })) {
    const role = roleOf(type, field);
    const isDetail = (role.kind === 'column' || role.kind === 'reference') && role.view === 'detail';
    if (isDetail) builder.hints.add(`\`${field.name}\` of ${path} is in the detail view only: up to ${count} calls`);
  }
}

/** Plans the scope of the ids of objects below `@current`, each found by its key. */
function planScope(builder: PlanBuilder, { objects, nodes, path }: SelectedObjects): void {
  const { owner, type, stage, certain } = objects;
  if (!isCurrent(owner) || !builder.needs(builder.type(type), nodes).globalId) return;
  builder.planCurrent({ stage, certain, path });
}

/**
 * Plans the scope of the ids of plugins below `@current`, once their rows have arrived, which mostly have it. What waits for
 * such an id comes `done`.
 */
function planScopeOfPlugins(
  builder: PlanBuilder,
  { objects, nodes, path }: SelectedObjects,
  stage: Stage,
  done: (arrival: Stage) => void,
): void {
  if (!isCurrent(objects.owner) || !builder.needs(builder.type('Plugin'), nodes).globalId) return done(stage);
  builder.planCurrent({ stage, certain: false, path }, done);
}
