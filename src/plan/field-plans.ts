import type { GraphQLObjectType } from 'graphql';
import { parseIdWithin, parseOwnerId } from '../graphql/ids.ts';
import { type Role, roleOf } from '../look-ahead/roles.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import { current, type Key } from '../rest/paths.ts';
import { planList } from './connection-plans.ts';
import { type Arguments, type Draft, pathOf } from './draft.ts';
import { planCurrent } from './id-scopes.ts';
import { after } from './moments.ts';
import { collectionText, isCurrent, isOwnerKnown, keyed, type Objects, textOf, toObjects } from './objects.ts';
import { planRead } from './reads.ts';
import { collectionOf, ownersOf, type PlanStep, type Step } from './step.ts';
import { planTable } from './table-plans.ts';

/** Plans a field of objects that is in no row: what it reads, and what is selected below it. */
export function planField(
  draft: Draft,
  type: GraphQLObjectType,
  selected: SelectedField,
  parent: Objects,
  parentPath: string,
): void {
  const role = roleOf(type, selected.field);
  const path = pathOf(parentPath, selected);
  draft.steps.take(path);
  if (role.kind === 'owner') planOwner(draft, selected, parent, path);
  else planStep(role, { draft, selected, parent, moment: parent.moment, certain: parent.certain, path });
}

/** Plans a field that a read of its own answers. */
export function planStep(role: Role, step: Omit<Step, 'endpoint'>): void {
  const plan = plans[role.kind];
  if (plan === undefined || !('endpoint' in role)) return;
  step.draft.withArguments(step.selected, (args) => plan({ ...step, endpoint: role.endpoint }, args));
}

const plans: Partial<Record<Role['kind'], PlanStep>> = {
  byId: planById,
  list: planList,
  anyRow: planAnyRow,
  table: planTable,
  text: planText,
  report: planReport,
};

function planOwner(draft: Draft, { nodes }: SelectedField, { owner, moment, certain }: Objects, path: string): void {
  if (owner !== undefined) draft.plan({ objects: { ...owner, moment, certain }, nodes, path, known: 'assumed' });
}

function planById(step: Step, args: Arguments): void {
  const { draft, selected, path } = step;
  const { nodes } = selected;
  withObjects(step, args, (objects) => draft.plan({ objects, nodes, path, known: 'unknown' }));
}

/** An object that is answered as one value, read by itself. */
function planText(step: Step, args: Arguments): void {
  const { draft, endpoint, path } = step;
  withObjects(step, args, (objects) => {
    const { moment, certain } = objects;
    const count = draft.ledger.claim(`${endpoint.operation} as text`, objects);
    draft.ledger.add({ endpoint, moment, lower: certain ? count : 0, upper: count, rows: count, paths: [path] });
  });
}

/** Plans what is done with the objects that the argument `id` names. */
function withObjects(step: Step, args: Arguments, plan: (objects: Objects) => void): void {
  const { draft, path, moment, certain, parent } = step;
  const objects = objectsById(step, args.text('id') ?? '');
  const isClaimed = isCurrent(parent) && objects.owner !== undefined && !isCurrent(objects.owner);
  if (!isClaimed) return plan(objects);
  // A global id below `@current` is followed once it is known to be of that project or organization.
  planCurrent(draft, { moment, certain, path }, (come) => plan({ ...objects, moment: come, certain: false }));
}

/** The objects that an argument names: one, or one at each owner whose own id is not known. */
function objectsById({ endpoint: { kind }, parent, moment, certain }: Step, id: string): Objects {
  if (parent === undefined || kind === 'Project') {
    return keyed({ kind: 'Project', scope: '', id: parseOwnerId('Project', id, 'id') }, moment, certain);
  }
  const key: Key = parseIdWithin({ kind, scope: parent.id ?? current }, id, 'id');
  if (parent.id === key.scope) return { ...keyed(key, moment, certain), owner: parent };
  if (parent.id !== undefined) return keyed(key, moment, certain);
  const group = `${collectionText(kind, parent)} ${key.id}`;
  return toObjects({ type: kind, group, id: key.id, owner: parent, moment });
}

/** A value that the row of any page holds, and a page of one row where there is none. */
function planAnyRow(step: Step): void {
  const { draft, endpoint, moment, certain, path } = step;
  const collection = collectionOf(step);
  draft.lists.want({
    kind: endpoint.kind,
    collection,
    isKnown: isOwnerKnown(step.parent),
    list: collection,
    owners: ownersOf(step),
    offset: 0,
    limit: 1,
    countOnly: false,
    anyRow: true,
    certain,
    moment,
    path,
    done: () => undefined,
  });
}

function planReport(step: Step, args: Arguments): void {
  const cursor = args.text('after');
  if (cursor !== undefined) step.draft.options.cursors.decodeQuery('activity', cursor, 'after');
  const given = Object.entries(args.all).filter(([, value]) => value !== null);
  const fact = `${step.selected.field.name} ${JSON.stringify(given)}`;
  planRead(step, { fact, rows: 0 });
  const { draft, selected, parent, endpoint, moment, path } = step;
  if (parent === undefined || draft.answerOf(selected)?.name !== endpoint.kind) return;
  // A report that names rows: only its answer tells how many; so many at most are planned.
  const objects = toObjects({
    type: endpoint.kind,
    group: `${endpoint.operation} of ${textOf(parent)}`,
    to: draft.options.maxPageSize,
    owner: parent,
    owners: ownersOf(step),
    moment: after(moment),
  });
  draft.plan({ objects, nodes: selected.nodes, path, known: 'assumed' });
}
