import type { GraphQLObjectType, OperationDefinitionNode } from 'graphql';
import { checkedIds, parseGlobalId, parseOwnerId } from '../graphql/ids.ts';
import { roleOf } from '../look-ahead/roles.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import { answerSizeOf } from './answer-size.ts';
import { type Arguments, Draft, type DraftOptions } from './draft.ts';
import { planStep } from './field-plans.ts';
import { introspectionSize } from './introspection-size.ts';
import type { PlannedCall } from './ledger.ts';
import type { Moment } from './moments.ts';
import { planMutations } from './mutation-plans.ts';
import { planObjects } from './object-plans.ts';
import { keyed, keyedOrganization } from './objects.ts';

/** What an operation will do: the REST calls that it makes if nothing fails, retries and page filling left out. */
export interface Plan {
  readonly calls: readonly PlannedCall[];
  /** How many calls it makes at least, and at most. */
  readonly lower: number;
  readonly upper: number;
  /** How many rows it asks for at most. */
  readonly rows: number;
  /** How many JSON objects it answers at most. */
  readonly objects: number;
  /** How many calls wait for one another at most. */
  readonly waves: number;
  /** What makes it dear. */
  readonly hints: readonly string[];
}

/** What is planned: an operation of a valid document, with its coerced variables. */
export interface PlanRequest extends DraftOptions {
  readonly operation: OperationDefinitionNode;
}

/** The plan of an operation. */
export function planOperation(request: PlanRequest): Plan {
  return { ...planCalls(request), objects: answerSizeOf(request).objects + introspectionSize(request).objects };
}

function planCalls({ operation, ...options }: PlanRequest): Omit<Plan, 'objects'> {
  const draft = new Draft(options, planObjects);
  const type = options.schema.getRootType(operation.operation);
  if (type === null || type === undefined) return planOf(draft);
  const fields = draft.fields(type, { nodes: [operation] });
  if (operation.operation === 'mutation') planMutations(draft, type, fields);
  else planQuery(draft, type, fields);
  return planOf(draft);
}

const start: Moment = { wave: 0, earlier: undefined };

function planQuery(draft: Draft, type: GraphQLObjectType, fields: readonly SelectedField[]): void {
  for (const selected of fields) {
    const role = roleOf(type, selected.field);
    const path = selected.responseKey;
    if (role.kind === 'node') draft.withArguments(selected, (args) => planNodes(draft, selected, args));
    else if (role.kind === 'organization')
      draft.withArguments(selected, (args) => planOrganization(draft, selected, args));
    else planStep(role, { draft, selected, parent: undefined, moment: start, certain: true, path });
  }
  draft.run();
}

function planNodes(draft: Draft, { nodes, responseKey: path }: SelectedField, args: Arguments): void {
  const single = args.text('id');
  const ids = single === undefined ? checkedIds(args.texts('ids'), draft.options.maxPageSize) : [single];
  for (const id of new Set(ids)) {
    draft.attempt(() => {
      const { type, ...key } = parseGlobalId(id, 'id');
      const isOrganization = type === 'Organization';
      const objects = isOrganization
        ? keyedOrganization(key.id, start, true)
        : keyed({ kind: type, ...key }, start, true);
      draft.plan({ objects, nodes, path, known: 'unknown' });
    });
  }
}

function planOrganization(draft: Draft, { nodes, responseKey: path }: SelectedField, args: Arguments): void {
  const id = parseOwnerId('Organization', args.text('id') ?? '', 'id');
  draft.plan({ objects: keyedOrganization(id, start, true), nodes, path, known: 'unknown' });
}

function planOf({ ledger: { calls }, hints, isRefused }: Draft): Omit<Plan, 'objects'> {
  const sum = (of: (call: PlannedCall) => number): number => calls.reduce((total, call) => total + of(call), 0);
  const usual = calls.filter(({ when }) => when !== 'absent');
  return {
    calls: calls.toSorted((a, b) => a.wave - b.wave),
    lower: isRefused ? 0 : sum(({ lower }) => lower),
    upper: sum(({ upper }) => upper),
    rows: sum(({ rows }) => rows),
    waves: Math.max(0, ...usual.map(({ wave }) => wave)),
    hints: [...hints],
  };
}
