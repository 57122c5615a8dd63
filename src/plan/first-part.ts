import {
  type DocumentNode,
  type FieldNode,
  type FragmentSpreadNode,
  getOperationAST,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { isDeferred } from '../look-ahead/deferral.ts';
import { fragmentsOf, inclusionOf, type SelectionScope } from '../look-ahead/selection.ts';
import { type Plan, type PlanRequest, planOperation } from './plan.ts';
import type { PlannedCall } from './planned-calls.ts';

/** A plan, and when the first part of the answer goes out. */
export interface PlanInParts extends Plan {
  /** The wave behind which it goes out, 0 if it needs no call; undefined if nothing is deferred with these variables. */
  readonly firstPartAfter?: number;
}

/**
 * Adds to the plan of an operation when the first part of its answer goes out if its document is `deferring`, and a hint
 * what to defer so that a first part goes out sooner. Mutations are answered as a whole.
 */
export function planInParts(plan: Plan, request: PlanRequest, deferring: DocumentNode | undefined): PlanInParts {
  if (request.operation.operation !== 'query') return plan;
  const first = deferring === undefined ? undefined : planFirst(request, deferring);
  const hints = [...plan.hints, ...hintsOf(first ?? plan)];
  return first === undefined
    ? { ...plan, hints }
    : { ...plan, firstPartAfter: Math.min(first.waves, plan.waves), hints };
}

/** The plan of what the first part has; undefined if that is the whole answer. */
function planFirst(request: PlanRequest, deferring: DocumentNode): Plan | undefined {
  const name = request.operation.name?.value;
  const { selectionSet } = operationIn(deferring, name);
  if (!defersAny(selectionSet, { ...request, fragments: fragmentsOf(deferring) })) return undefined;
  const withoutDeferred = (node: InlineFragmentNode | FragmentSpreadNode): null | undefined =>
    isDeferred(node, request) ? null : undefined;
  // What a node selects is remembered, and here it selects less: also one that spreads a fragment in which something is deferred.
  const anew = { leave: <T extends FieldNode | OperationDefinitionNode>(node: T): T => ({ ...node }) };
  const document = visit(deferring, {
    InlineFragment: withoutDeferred,
    FragmentSpread: withoutDeferred,
    Field: anew,
    OperationDefinition: anew,
  });
  return planOperation({ ...request, operation: operationIn(document, name), fragments: fragmentsOf(document) });
}

function operationIn(document: DocumentNode, name: string | undefined): OperationDefinitionNode {
  const operation = getOperationAST(document, name);
  if (operation === null || operation === undefined) throw new Error('the operation is not in its document');
  return operation;
}

const isIncluded = inclusionOf('selected');

/** Whether something is deferred in a selection or below it. Each fragment is `entered` once. */
function defersAny(
  set: SelectionSetNode | undefined,
  scope: SelectionScope,
  entered: Set<string> = new Set(),
): boolean {
  const defers = (node: SelectionSetNode['selections'][number]): boolean => {
    if (!isIncluded(node, scope)) return false;
    if (isDeferred(node, scope)) return true;
    if (node.kind !== 'FragmentSpread') return defersAny(node.selectionSet, scope, entered);
    const name = node.name.value;
    if (entered.has(name)) return false;
    entered.add(name);
    return defersAny(scope.fragments[name]?.selectionSet, scope, entered);
  };
  return set?.selections.some(defers) ?? false;
}

const listFormat = new Intl.ListFormat('en');

/** Most places that a hint names. */
const mostPlaces = 3;

/** What to defer if the first part waits for more than one wave: what the last of them is for. */
function hintsOf({ calls, waves }: Plan): readonly string[] {
  const usual = calls.filter(({ when }) => when !== 'absent');
  const earlier = Math.max(0, ...usual.map(({ wave }) => wave).filter((wave) => wave < waves));
  if (earlier === 0) return [];
  const places = [...new Set(usual.filter(({ wave }) => wave === waves).flatMap(({ paths }: PlannedCall) => paths))];
  const shown = places.slice(0, mostPlaces);
  const more = places.length > mostPlaces ? ['others'] : [];
  const names = listFormat.format([...shown, ...more]);
  const verb = places.length === 1 ? 'needs' : 'need';
  return [`with \`@defer\` on what ${names} ${verb} in wave ${waves}, a first part goes out after wave ${earlier}`];
}
