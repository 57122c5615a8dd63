import { checkedIds, parseGlobalId, parseOwnerId } from '../graphql/ids.ts';
import { refuseCurrent } from '../graphql/reach-refusals.ts';
import { listView } from '../loaders/row-store.ts';
import type { FieldOrigin } from '../look-ahead/field-origins.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { type SelectedField } from '../look-ahead/selection-tree.ts';
import { current } from '../rest/paths.ts';
import { reaches } from '../rest/reach.ts';
import { planReachable, rowsOf } from './connection-plans.ts';
import { estimateOf } from './estimate.ts';
import { planByOrigin } from './field-plans.ts';
import { planMutations } from './mutation-plans.ts';
import { after, objectByKey, objectsText, start, toObjects } from './objects.ts';
import { type Arguments, PlanBuilder, type PlanRequest } from './plan-builder.ts';
import { type PlannedCall } from './planned-calls.ts';

/** The REST calls that an operation makes if nothing fails, and if the upstream cuts no page short. */
export interface Plan {
  readonly calls: readonly PlannedCall[];
  readonly lower: number;
  readonly upper: number;
  readonly rows: number;
  /** The most JSON objects in the answer. */
  readonly objects: number;
  /** The length of the longest chain of calls that wait for one another. */
  readonly waves: number;
  /** Sentences for people: causes of calls, and ways to save or delay them. */
  readonly hints: readonly string[];
}

/** A plan, and the errors of refused arguments. */
export interface CheckedPlan {
  readonly plan: Plan;
  readonly argumentErrors: readonly unknown[];
}

/** Plans an operation. Throws a PlanLimitError if planning takes more than `maxSteps`. */
export function planOperation(request: PlanRequest): CheckedPlan {
  const { operation, variableValues, part } = request;
  const builder = new PlanBuilder(request);
  const { fields = [] } = rootOf(request, variableValues.coerced, part) ?? {};
  if (operation.operation === 'mutation') planMutations(builder, fields);
  else for (const selected of fields) planRoot(builder, selected);
  builder.run();
  const { hints, isNonNullRefused, argumentErrors } = builder;
  const calls = builder.calls.all.toSorted((a, b) => a.wave - b.wave);
  const sum = (of: (call: PlannedCall) => number): number => calls.reduce((total, call) => total + of(call), 0);
  const usual = calls.filter(({ when }) => when !== 'absent');
  const plan: Plan = {
    calls,
    lower: isNonNullRefused ? 0 : sum(({ lower }) => lower),
    upper: sum(({ upper }) => upper),
    rows: sum(({ rows }) => rows),
    waves: Math.max(0, ...usual.map(({ wave }) => wave)),
    hints: [...hints],
    objects: estimateOf(request).objects,
  };
  return { plan, argumentErrors };
}

function planRoot(builder: PlanBuilder, selected: SelectedField): void {
  const { origin, responseKey: path } = selected;
  if (origin.kind === 'list' && builder.reach !== undefined) planReachable(builder, selected, builder.reach);
  else if (origin.kind === 'node') builder.withArguments(selected, (args) => planNodes(builder, selected, args));
  else if (origin.kind === 'organization')
    builder.withArguments(selected, (args) => planOrganizationById(builder, selected, args));
  else if (origin.kind === 'tail') builder.withArguments(selected, (args) => planTail(builder, origin, selected, args));
  else planByOrigin({ builder, selected, parent: undefined, stage: start, certain: true, path });
}

function planNodes(
  builder: PlanBuilder,
  { below: selection, responseKey: path }: SelectedField,
  args: Arguments,
): void {
  const ids = args.id === undefined ? checkedIds(args.ids ?? [], builder.options.maxPageSize) : [args.id];
  for (const id of new Set(ids)) {
    builder.planUnlessRefused(() => {
      const objects = objectByKey(parseGlobalId(id, 'id'), start, true);
      builder.plan({ objects, selection, path, existence: 'unknown' });
    });
  }
}

function planOrganizationById(
  builder: PlanBuilder,
  { below: selection, responseKey: path }: SelectedField,
  args: Arguments,
): void {
  refuseCurrent(builder.reach, args.id, 'id');
  const id = parseOwnerId('Organization', args.id ?? '', 'id');
  const objects = objectByKey({ type: 'Organization', scope: '', id }, start, true);
  builder.plan({ objects, selection, path, existence: 'unknown' });
}

/**
 * Plans one message of a subscription: the page that a poll reads for all subscribers of the list, and the selection on
 * its rows. Agrees with `resolvers/subscription.ts`.
 */
function planTail(
  builder: PlanBuilder,
  { endpoint }: FieldOrigin & { kind: 'tail' },
  selected: SelectedField,
  args: Arguments,
): void {
  const { reach, options } = builder;
  const { maxPageSize } = options;
  const { responseKey: path } = selected;
  refuseCurrent(reach, args.projectId, 'projectId');
  const id = parseOwnerId('Project', args.projectId ?? '', 'projectId');
  if (!reaches(reach, { noun: 'Project', scope: '', id })) return;
  if (id === current) builder.planCurrent({ stage: start, certain: true, path });
  builder.calls.add({ endpoint, stage: start, lower: 1, upper: 1, rows: maxPageSize, paths: [path] });
  builder.hints.add(
    'One poll every few seconds answers all who follow the same events; a busy project takes further calls.',
  );
  const { noun } = endpoint;
  const owner = objectByKey({ type: 'Project', scope: '', id }, start, true);
  const group = `what is added to events of ${objectsText(owner)}`;
  const stage = after(start);
  const objects = toObjects({ type: noun, group, to: maxPageSize, owner, ownerCount: 1, view: listView(noun), stage });
  for (const rows of rowsOf(selected, noun, path)) builder.plan({ ...rows, objects, existence: 'listed' });
}
