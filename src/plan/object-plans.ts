import type { GraphQLObjectType } from 'graphql';
import { suffices, type View } from '../loaders/row-store.ts';
import { ownView } from '../look-ahead/needs.ts';
import { roleOf } from '../look-ahead/roles.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import type { Kind } from '../rest/paths.ts';
import { type Draft, pathOf } from './draft.ts';
import { planField } from './field-plans.ts';
import { planCurrent, planScope, planScopeOfPlugins } from './id-scopes.ts';
import { after, type Moment } from './moments.ts';
import { isCurrent, most, type Objects, textOf, toObjects } from './objects.ts';
import type { Place } from './place.ts';

/** Plans what is selected on objects of the answer, as the resolvers read it. */
export function planObjects(draft: Draft, place: Place): void {
  const { type } = place.objects;
  if (type === 'Organization') planOrganization(draft, place);
  else planRow(draft, type, place);
}

/** An organization is known by its id alone. The name of one that a plugin names comes with the plugin's row. */
function planOrganization(draft: Draft, { objects, nodes, path, known }: Place): void {
  const type = draft.type('Organization');
  const { moment, certain } = objects;
  for (const selected of draft.fields(type, { nodes })) {
    const { kind } = roleOf(type, selected.field);
    const isNamed = known === 'named' && kind === 'anyRow';
    if (isCurrent(objects) && kind === 'free') planCurrent(draft, { moment, certain, path });
    if (!isNamed) planField(draft, type, selected, objects, path);
  }
}

function planRow(draft: Draft, kind: Kind, place: Place): void {
  const { objects, path, known } = place;
  const type = draft.type(kind);
  const inRow: SelectedField[] = [];
  for (const selected of draft.fields(type, place)) {
    const role = roleOf(type, selected.field).kind;
    if (role === 'reference' || role === 'organizationOf') inRow.push(selected);
    else if (role !== 'column' && role !== 'free') planField(draft, type, selected, objects, path);
  }
  const view = viewOf(draft, kind, place);
  const planReferences = (moment: Moment): void => {
    if (kind === 'Plugin') planScopeOfPlugins(draft, place, moment);
    for (const selected of inRow) planReference(draft, type, selected, { ...objects, moment }, path);
  };
  if (view === undefined) planReferences(objects.moment);
  else draft.rows.want({ ...(known === 'answered' && unanswered), kind, objects, view, path, done: planReferences });
  if (kind !== 'Plugin' && known !== 'listed') planScope(draft, place);
  if (view === 'detail') addHints(draft, place);
  if (view === undefined && known === 'unknown') planProof(draft, kind, place);
}

const unanswered = { when: 'not in the answer' } as const;

/** The view of their own row that the objects are answered with; undefined where the one they come with will do. */
function viewOf(draft: Draft, kind: Kind, { objects, nodes, known }: Place): View | undefined {
  const needs = draft.needs(draft.type(kind), nodes);
  const own = { type: kind, id: objects.id, scope: objects.owner?.id };
  if (known === 'unknown') return ownView(own, needs, known);
  if (known === 'assumed' || known === 'answered') return ownView(own, needs, 'assumed');
  const isThere = needs.view === undefined || objects.view === undefined || suffices(objects.view, needs.view);
  return isThere ? undefined : needs.view;
}

/** Where all relations answer 404, one read of the row decides whether the object exists. */
function planProof(draft: Draft, kind: Kind, { objects, path }: Place): void {
  const later = { ...objects, moment: after(objects.moment), certain: false };
  draft.rows.wantIfAbsent({ kind, objects: later, view: 'list', path, when: 'absent', done: () => undefined });
}

/** Plans the objects that a column refers to, one at most of each. */
function planReference(
  draft: Draft,
  type: GraphQLObjectType,
  selected: SelectedField,
  objects: Objects,
  parentPath: string,
): void {
  const role = roleOf(type, selected.field);
  const { nodes, field } = selected;
  const path = pathOf(parentPath, selected);
  const { moment, owner } = objects;
  const parts = { group: `${textOf(objects)}.${field.name}`, owners: most(objects), moment };
  if (role.kind === 'organizationOf') {
    const isPlugin = type.name === 'Plugin';
    // A plugin that names no organization is of the one that lists it.
    if (isPlugin && isCurrent(owner)) planCurrent(draft, { moment, certain: false, path });
    const known = isPlugin ? 'named' : 'assumed';
    draft.plan({ objects: toObjects({ ...parts, type: 'Organization' }), nodes, path, known });
  } else if (role.kind === 'reference') {
    const { kind } = role.endpoint;
    // Dashboards refer to dashboards of their own project, projects to dashboards of their own.
    const isSibling = kind === objects.type;
    const [owners, to] = isSibling ? [objects.owners, objects.to - objects.from] : [most(objects), 1];
    const referred = toObjects({ ...parts, type: kind, owner: isSibling ? owner : objects, owners, to });
    draft.plan({ objects: referred, nodes, path, known: 'assumed' });
  }
}

/** Nobody reads more. */
const mostHints = 50;

/** Columns for which each of many objects is read, each once and by its own name, whatever its aliases. */
function addHints(draft: Draft, { objects, nodes, path }: Place): void {
  const count = most(objects);
  if (draft.hints.size >= mostHints || count < 2 || (objects.view !== undefined && suffices(objects.view, 'detail')))
    return;
  const type = draft.type(objects.type);
  for (const { field } of draft.fields(type, { nodes })) {
    const role = roleOf(type, field);
    const isDetail = (role.kind === 'column' || role.kind === 'reference') && role.view === 'detail';
    if (isDetail) draft.hints.add(`\`${field.name}\` of ${path} is in the detail view only: up to ${count} calls`);
  }
}
