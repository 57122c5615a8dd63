import type { GraphQLError } from 'graphql';
import type { Estimate } from '../plan/estimate.ts';
import type { CheckedPlan, Plan } from '../plan/plan.ts';
import { PlanLimitError } from '../plan/plan-builder.ts';
import type { PreparedOperation } from './document.ts';
import { RequestError } from './request-error.ts';

/** The most that an operation may need of the upstream, and the most objects that it may answer. */
export interface CostLimits {
  readonly maxUpstreamCalls: number;
  readonly maxUpstreamRows: number;
  readonly maxAnswerObjects: number;
}

/** True if an operation could exceed the limit of calls or of rows. */
export function isExpensive(
  { calls, rows }: Pick<Estimate, 'calls' | 'rows'>,
  { listed }: PreparedOperation,
  limits: CostLimits,
): boolean {
  return calls > limits.maxUpstreamCalls || (rows > limits.maxUpstreamRows && !listed);
}

/** The refusal of an operation whose answer could have too many objects; undefined if it may run. */
export function answerRefusal(
  { objects, fullest }: Estimate,
  { maxAnswerObjects: limit }: CostLimits,
): GraphQLError | undefined {
  if (objects <= limit) return undefined;
  return refusal(`may answer up to ${objects} objects`, fullest.objects, { objects, limit, path: fullest.path });
}

/** The refusal of an operation whose plan exceeds a limit; undefined if it may run. */
export function expenseRefusal(
  planned: CheckedPlan | PlanLimitError,
  { listed }: PreparedOperation,
  { maxUpstreamCalls, maxUpstreamRows }: CostLimits,
): GraphQLError | undefined {
  if (planned instanceof PlanLimitError) return tooManySteps(planned);
  const { plan } = planned;
  const { upper, rows } = plan;
  if (upper > maxUpstreamCalls) {
    const { path, there } = placeWithMost(plan, 'upper');
    return refusal(`may make up to ${upper} REST calls`, there, { calls: upper, limit: maxUpstreamCalls, path });
  }
  if (rows <= maxUpstreamRows || listed) return undefined;
  const { path, there } = placeWithMost(plan, 'rows');
  return refusal(`may ask for up to ${rows} rows`, there, { rows, limit: maxUpstreamRows, path });
}

/** The path that adds most to a count, and its share of the count. */
function placeWithMost({ calls }: Plan, unit: 'upper' | 'rows'): { readonly path: string; readonly there: number } {
  const [most] = calls.toSorted((a, b) => b[unit] - a[unit]);
  return { path: most?.paths[0] ?? '', there: most?.[unit] ?? 0 };
}

function refusal(
  does: string,
  there: number,
  details: Readonly<Record<string, unknown>> & { readonly limit: number; readonly path: string },
): GraphQLError {
  const message = `The operation ${does}, ${there} of them for \`${details.path}\`, but the limit is ${details.limit}.`;
  return new RequestError('expensiveOperation', message, { details });
}

/** Planning stops at the limit, so the total number of steps is unknown. */
function tooManySteps({ limit, path }: PlanLimitError): GraphQLError {
  const details = { steps: limit + 1, limit, path: path.slice(0, longestPath) };
  return new RequestError(
    'expensiveOperation',
    `Planning the operation takes too many steps, one for each place and relation of each id: the limit is ${limit}.`,
    { details },
  );
}

/** The most characters of a path in an error: an alias may be as long as a document. */
const longestPath = 300;
