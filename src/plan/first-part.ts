import {
  type DocumentNode,
  type FragmentSpreadNode,
  GraphQLDeferDirective,
  getDirectiveValues,
  getOperationAST,
  type InlineFragmentNode,
  visit,
} from 'graphql';
import { fragmentsOf } from '../look-ahead/selection.ts';
import { type Plan, type PlanRequest, planOperation } from './plan.ts';
import type { PlannedCall } from './planned-calls.ts';

/** A plan, and when the first part of the answer goes out. */
export interface PlanInParts extends Plan {
  /** The wave behind which it goes out, 0 if it needs no call; undefined if nothing is deferred. */
  readonly firstPartAfter?: number;
}

/**
 * Adds to the plan of an operation when the first part of its answer goes out if its document is `deferring`, and a hint
 * what to defer so that a first part goes out sooner. Mutations are answered as a whole.
 */
export function planInParts(plan: Plan, request: PlanRequest, deferring: DocumentNode | undefined): PlanInParts {
  if (request.operation.operation !== 'query') return plan;
  const first = deferring === undefined ? plan : planFirst(request, deferring);
  const hints = [...plan.hints, ...hintsOf(first)];
  if (deferring === undefined) return { ...plan, hints };
  return { ...plan, firstPartAfter: Math.min(first.waves, plan.waves), hints };
}

/** The plan of what the first part has. */
function planFirst({ operation: { name }, ...request }: PlanRequest, deferring: DocumentNode): Plan {
  const withoutDeferred = (node: InlineFragmentNode | FragmentSpreadNode): null | undefined => {
    const values = getDirectiveValues(GraphQLDeferDirective, node, request.variableValues);
    return values === undefined || values['if'] === false ? undefined : null;
  };
  const document = visit(deferring, { InlineFragment: withoutDeferred, FragmentSpread: withoutDeferred });
  const operation = getOperationAST(document, name?.value);
  if (operation === null || operation === undefined) throw new Error('the operation is not in its document');
  return planOperation({ ...request, operation, fragments: fragmentsOf(document) });
}

/** Most places that a hint names. */
const mostPlaces = 3;

/** What to defer if the first part waits for more than one wave: what the last of them is for. */
function hintsOf({ calls, waves }: Plan): readonly string[] {
  const usual = calls.filter(({ when }) => when !== 'absent');
  const earlier = Math.max(0, ...usual.map(({ wave }) => wave).filter((wave) => wave < waves));
  if (earlier === 0) return [];
  const places = [...new Set(usual.filter(({ wave }) => wave === waves).flatMap(({ paths }: PlannedCall) => paths))];
  const shown = places.slice(0, mostPlaces).join(', ');
  const more = places.length > mostPlaces ? ' and others' : '';
  return [
    `with \`@defer\` on what ${shown}${more} needs in wave ${waves}, a first part goes out after wave ${earlier}`,
  ];
}
