import type { GraphQLError } from 'graphql';
import type { Bound } from '../plan/bound.ts';
import type { Plan } from '../plan/plan.ts';
import { PlanLimitError } from '../plan/plan-builder.ts';
import type { PlannedCall } from '../plan/planned-calls.ts';
import type { PreparedOperation } from './document.ts';
import { requestError } from './request-error.ts';

/** The most that an operation may need of the upstream. */
export interface CostLimits {
  readonly maxUpstreamCalls: number;
  readonly maxUpstreamRows: number;
}

/** True if an operation could exceed the limit of calls or of rows. */
export function isExpensive({ calls, rows }: Bound, { listed }: PreparedOperation, limits: CostLimits): boolean {
  return calls > limits.maxUpstreamCalls || (rows > limits.maxUpstreamRows && !listed);
}

/** The refusal of an operation with such a plan; undefined if it may run. */
export function expenseRefusal(
  plan: Plan | PlanLimitError,
  { listed }: PreparedOperation,
  limits: CostLimits,
): GraphQLError | undefined {
  if (plan instanceof PlanLimitError) return tooManySteps(plan);
  const { maxUpstreamCalls, maxUpstreamRows } = limits;
  if (plan.upper > maxUpstreamCalls)
    return tooExpensive('calls', plan.upper, maxUpstreamCalls, plan, ({ upper }) => upper);
  if (plan.rows <= maxUpstreamRows || listed) return undefined;
  return tooExpensive('rows', plan.rows, maxUpstreamRows, plan, ({ rows }) => rows);
}

function tooExpensive(
  unit: 'calls' | 'rows',
  count: number,
  limit: number,
  { calls }: Plan,
  measure: (call: PlannedCall) => number,
): GraphQLError {
  const [mostExpensive] = calls.toSorted((a, b) => measure(b) - measure(a));
  const path = mostExpensive?.paths[0] ?? '';
  const most = mostExpensive === undefined ? 0 : measure(mostExpensive);
  const does = unit === 'calls' ? 'make up to' : 'ask for up to';
  const what = unit === 'calls' ? 'REST calls' : 'rows';
  return requestError(
    'expensiveOperation',
    `The operation may ${does} ${count} ${what}, ${most} of them for \`${path}\`, but the limit is ${limit}.`,
    { details: { [unit]: count, limit, path } },
  );
}

/**
 * The refusal of an operation whose plan takes too many steps. Planning stops at the limit, so the total number of
 * steps is unknown.
 */
function tooManySteps({ limit, path }: PlanLimitError): GraphQLError {
  const details = { steps: limit + 1, limit, path: path.slice(0, longestPath) };
  return requestError(
    'expensiveOperation',
    `The operation has more places and relations, those of each id counted, than are planned: the limit is ${limit}.`,
    { details },
  );
}

/** The most characters of a path in an error: an alias may be as long as a document. */
const longestPath = 300;
