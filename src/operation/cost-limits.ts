import type { GraphQLError } from 'graphql';
import type { Estimate } from '../plan/estimate.ts';
import type { Plan } from '../plan/plan.ts';
import { PlanLimitError } from '../plan/plan-builder.ts';
import type { PreparedOperation } from './document.ts';
import { requestError } from './request-error.ts';

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
  return refusal(`may answer up to ${objects} objects`, 'objects', {
    count: objects,
    limit,
    path: fullest.path,
    there: fullest.objects,
  });
}

/** The refusal of an operation with such a plan; undefined if it may run. */
export function expenseRefusal(
  plan: Plan | PlanLimitError,
  { listed }: PreparedOperation,
  { maxUpstreamCalls, maxUpstreamRows }: CostLimits,
): GraphQLError | undefined {
  if (plan instanceof PlanLimitError) return tooManySteps(plan);
  const { upper, rows } = plan;
  if (upper > maxUpstreamCalls) {
    const most = placeWithMost(plan, 'upper');
    return refusal(`may make up to ${upper} REST calls`, 'calls', { count: upper, limit: maxUpstreamCalls, ...most });
  }
  if (rows <= maxUpstreamRows || listed) return undefined;
  const most = placeWithMost(plan, 'rows');
  return refusal(`may ask for up to ${rows} rows`, 'rows', { count: rows, limit: maxUpstreamRows, ...most });
}

/** A count beyond its limit, and the path with most of it. */
interface Excess {
  readonly count: number;
  readonly limit: number;
  readonly path: string;
  /** The part of the count that is due to the path. */
  readonly there: number;
}

function placeWithMost({ calls }: Plan, unit: 'upper' | 'rows'): Pick<Excess, 'path' | 'there'> {
  const [most] = calls.toSorted((a, b) => b[unit] - a[unit]);
  return { path: most?.paths[0] ?? '', there: most?.[unit] ?? 0 };
}

function refusal(does: string, unit: string, { count, limit, path, there }: Excess): GraphQLError {
  const message = `The operation ${does}, ${there} of them for \`${path}\`, but the limit is ${limit}.`;
  return requestError('expensiveOperation', message, { details: { [unit]: count, limit, path } });
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
