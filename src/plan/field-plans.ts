import type { GraphQLObjectType } from 'graphql';
import { pageSizeOf } from '../graphql/connections.ts';
import { parseIdWithin, parseOwnerId } from '../graphql/ids.ts';
import { current, type Key } from '../rest/paths.ts';
import { planList } from './connection-plans.ts';
import { type Arguments, type Draft, pathOf } from './draft.ts';
import { planCurrent } from './id-scopes.ts';
import { after } from './moments.ts';
import { collectionText, isCurrent, isOwnerKnown, keyed, type Objects, textOf, toObjects } from './objects.ts';
import { type Role, roleOf } from './roles.ts';
import type { SelectedField } from './selection.ts';
import { collectionOf, ownersOf, type PlanStep, type Step } from './step.ts';

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
  report: planReport,
};

function planOwner(draft: Draft, { nodes }: SelectedField, { owner, moment, certain }: Objects, path: string): void {
  if (owner !== undefined) draft.plan({ objects: { ...owner, moment, certain }, nodes, path, known: 'assumed' });
}

function planById(step: Step, args: Arguments): void {
  const { draft, selected, path, moment, certain, parent } = step;
  const objects = objectsById(step, args.text('id') ?? '');
  const plan = (found: Objects): void => draft.plan({ objects: found, nodes: selected.nodes, path, known: 'unknown' });
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

function planTable(step: Step, args: Arguments): void {
  const limit = pageSizeOf('first', args.number('first'), step.draft.options.maxPageSize);
  // Without a column it is the page that a connection may read.
  const isPage = args.texts('select').length === 0 && 'select' in args.all;
  planRead({ ...step, certain: step.certain && !isPage }, args, limit);
}

function planReport(step: Step, args: Arguments): void {
  planRead(step, args, 0);
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

/** One read for each object of the field; equal ones are one. */
function planRead({ draft, endpoint, parent, moment, certain, path }: Step, args: Arguments, rows: number): void {
  if (parent === undefined) return;
  const count = draft.ledger.claim(`${endpoint.operation} ${JSON.stringify(args.all)}`, parent);
  const lower = certain ? count : 0;
  draft.ledger.add({ endpoint, moment, lower, upper: count, rows: rows * count, paths: [path] });
}
