import type { GraphQLError } from 'graphql';
import type { MaybePromise } from '../maybe-promise.ts';
import type { CallBudget } from '../rest/budget/call-budget.ts';
import type { Refusal } from '../rest/errors.ts';
import { operations } from '../rest/generated/views.ts';
import { accountOf, type Outlooks } from '../rest/ledger.ts';
import { surfaces } from '../rest/rest-operations.ts';
import type { BudgetStatus } from './cost.ts';
import type { OperationRun } from './operation-run.ts';
import { overload, requestError } from './request-error.ts';
import type { OperationResult } from './result.ts';

/** The error of an operation that ended because the gateway refused its first call. */
export function refusedOperation({ shortage, upstream }: Refusal): GraphQLError {
  if (shortage === undefined) return overload();
  const { surface, calls, window } = shortage;
  const needed = `The operation needs at least ${calls} REST ${calls === 1 ? 'call' : 'calls'} of the surface ${surface}`;
  if (window !== undefined) {
    const message = `${needed}, more than the ${window.limit} in ${window.ms / 1000} seconds that it may make.`;
    return requestError('spentBudget', message);
  }
  const { retryAfter = 1 } = upstream ?? {};
  const message = `${needed}, which can be made in ${retryAfter} seconds at the earliest.`;
  return requestError('spentBudget', message, {
    details: { retryAfter },
    headers: { 'retry-after': String(retryAfter) },
  });
}

/**
 * Adds to a result what is left of the budget of each surface that the operation used. If the client wants the cost,
 * the cost also has surfaces that were planned but not called. If the operation has neither, nothing is looked up.
 */
export function withBudget(
  { request: { caller }, cost }: OperationRun,
  result: OperationResult,
  budget: CallBudget | undefined,
): MaybePromise<OperationResult> {
  if (budget === undefined || caller === undefined) return result;
  const { surfaces: touched } = cost.calls;
  const planned = cost.wantsCost ? cost.plan?.calls.map(({ operation }) => operations[operation].surface) : [];
  const asked = surfaces.filter((surface) => touched.has(surface) || planned?.includes(surface) === true);
  if (asked.length === 0) return result;
  return budget.look(accountOf(caller), asked).then((outlooks) => {
    const statuses = statusesOf(outlooks);
    const rateLimits = statuses.filter(({ surface }) => touched.has(surface));
    if (!cost.wantsCost) return { ...result, rateLimits };
    cost.budget = statuses;
    return { ...result, rateLimits, extensions: cost.extensions() };
  });
}

function statusesOf(outlooks: Outlooks): readonly BudgetStatus[] {
  return [...outlooks].flatMap(([surface, windows]) =>
    windows.map(({ ms, limit, remaining, resetsInMs }) => ({
      ...{ surface, limit, remaining },
      window: ms / 1000,
      resetsIn: Math.ceil(resetsInMs / 1000),
    })),
  );
}

/** The window with the least left, for each surface. */
export function scarcestOf(windows: readonly BudgetStatus[]): readonly BudgetStatus[] {
  return [...Map.groupBy(windows, ({ surface }) => surface).values()].map((all) => all.reduce(scarcer));
}

/** The window with less left; if they are equal, the one that ends later. */
function scarcer(one: BudgetStatus, other: BudgetStatus): BudgetStatus {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.resetsIn > other.resetsIn)
    ? one
    : other;
}
