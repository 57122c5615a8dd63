import { type OperationScope } from '../look-ahead/selection-tree.ts';
import { sumOverObjects } from './answer-size.ts';
import { type Plan, type PlanRequest, planOperation } from './plan.ts';
import type { PlannedCall } from './planned-calls.ts';

/** A plan, and when the first part of the answer goes out. */
export interface PlanInParts extends Plan {
  /** The wave behind which it goes out, 0 if it needs no call; undefined if nothing is deferred with these variables. */
  readonly firstPartAfter?: number;
}

/**
 * Adds to the plan of an operation when the first part of its answer goes out, and a hint what to defer so that a first part
 * goes out sooner. `deferring` is the operation with `@defer`, undefined if it has none. Mutations are answered as a whole.
 */
export function planInParts(
  plan: Plan,
  request: PlanRequest,
  deferring: Pick<OperationScope, 'operation' | 'fragments'> | undefined,
): PlanInParts {
  if (request.operation.operation !== 'query') return plan;
  const inParts = { ...request, ...deferring };
  const defers = deferring !== undefined && sumOverObjects(inParts, ({ deferrals }) => deferrals) > 0;
  const first = defers ? planOperation({ ...inParts, isFirstPart: true }) : undefined;
  const hints = [...plan.hints, ...hintsOf(first ?? plan)];
  return first === undefined
    ? { ...plan, hints }
    : { ...plan, firstPartAfter: Math.min(first.waves, plan.waves), hints };
}

const listFormat = new Intl.ListFormat('en');

/** Most places that a hint names. */
const mostPlaces = 3;

/** A hint to defer what the last wave is for, if the first part waits for more than one. */
function hintsOf({ calls, waves }: Plan): readonly string[] {
  const usual = calls.filter(({ when }) => when !== 'absent');
  const earlier = Math.max(0, ...usual.map(({ wave }) => wave).filter((wave) => wave < waves));
  if (earlier === 0) return [];
  const places = [...new Set(usual.filter(({ wave }) => wave === waves).flatMap(({ paths }: PlannedCall) => paths))];
  const shown = places.slice(0, mostPlaces);
  const more = places.length > mostPlaces ? ['others'] : [];
  const names = listFormat.format([...shown, ...more]);
  const verb = places.length === 1 ? 'needs' : 'need';
  return [`put \`@defer\` on what ${names} ${verb} in wave ${waves}, and a first part is sent after wave ${earlier}`];
}
