import type { DocumentNode, VariableValues } from 'graphql';
import { measureOf } from '../look-ahead/document-measure.ts';
import { conditionsOf } from '../look-ahead/operation-trees.ts';
import type { OperationScope } from '../look-ahead/selection-tree.ts';
import { type EstimateRequest, estimateOf } from './estimate.ts';
import { type Plan, planOperation } from './plan.ts';
import type { PlanRequest } from './plan-builder.ts';
import type { PlannedCall } from './planned-calls.ts';

/** The plan of an operation that may be answered in parts. */
export interface PlanInParts extends Plan {
  /** The wave after which the first part is sent; 0 if it needs no call. Undefined if the answer is sent whole. */
  readonly firstPartAfter?: number;
}

/**
 * Adds to a plan the wave after which the first part of the answer is sent, and a hint for deferring more or less.
 * `deferring` is the operation with `@defer`, and undefined if it has none.
 */
export function planInParts(
  plan: Plan,
  request: PlanRequest,
  deferring: (Pick<OperationScope, 'operation' | 'fragments'> & { readonly document: DocumentNode }) | undefined,
): PlanInParts {
  if (request.operation.operation !== 'query') return plan;
  const inParts = { ...request, ...deferring };
  const defers = deferring !== undefined && !isDeferUndecided(inParts, request.variableValues);
  if (!defers || estimateOf(inParts).deferrals === 0) return { ...plan, hints: [...plan.hints, ...hintsOf(plan)] };
  if (!isWithinDeferLimits(inParts, deferring.document)) return { ...plan, hints: [...plan.hints, tooMuchDeferred] };
  const { plan: first } = planOperation({ ...inParts, part: 'first' });
  const firstPartAfter = Math.min(first.waves, plan.waves);
  return { ...plan, firstPartAfter, hints: [...plan.hints, ...hintsOf(first)] };
}

/** True if a variable in a directive is null. What is deferred is then undecided, and the answer is sent whole. */
export function isDeferUndecided(scope: OperationScope, { coerced }: VariableValues): boolean {
  return conditionsOf(scope).some((name) => coerced[name] === null);
}

const mostPlaces = 3;

/** A hint to defer the fields of the last wave, if the first part waits for more than one wave. */
function hintsOf({ calls, waves }: Plan): readonly string[] {
  const usual = calls.filter(({ when }) => when !== 'absent');
  const earlier = Math.max(0, ...usual.map(({ wave }) => wave).filter((wave) => wave < waves));
  if (earlier === 0) return [];
  const places = [...new Set(usual.filter(({ wave }) => wave === waves).flatMap(({ paths }: PlannedCall) => paths))];
  const shown = places.slice(0, mostPlaces);
  const more = places.length > mostPlaces ? ['others'] : [];
  const names = new Intl.ListFormat('en').format([...shown, ...more]);
  const verb = places.length === 1 ? 'needs' : 'need';
  return [`put \`@defer\` on what ${names} ${verb} in wave ${waves}, and a first part is sent after wave ${earlier}`];
}

/**
 * The maximum number of deferred fragments of an answer in parts. Ten thousand of them block the event loop for most of
 * a second, and a hundred thousand for half a minute.
 */
const mostDeferredPlaces = 5000;

/** The most bytes of the labels and paths of deferred fragments, which only answers in parts have. */
const mostNameBytes = 4 * 2 ** 20;

const tooMuchDeferred = `it may defer more than ${mostDeferredPlaces} fragments or ${mostNameBytes} bytes of labels and paths, so it is answered as one document`;

/**
 * True if the deferred fragments of an answer stay within their limits. A fragment counts once for each object that has
 * it, because each time it takes graphql's executors more time and memory than an object. `document` is the one with
 * `@defer`.
 */
export function isWithinDeferLimits(request: EstimateRequest, document: DocumentNode): boolean {
  const { deferrals, introspects } = estimateOf(request);
  const { longestLabel, longestPath } = measureOf(document);
  // A deferred fragment is named by its label and its path. Introspection is never within the limits, because only its
  // answer shows how many objects it has.
  const bytes = deferrals * (longestLabel + longestPath);
  return !introspects && deferrals <= mostDeferredPlaces && bytes <= mostNameBytes;
}
