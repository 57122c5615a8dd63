import type { GraphQLError } from 'graphql';
import type { MaybePromise } from '../maybe-promise.ts';
import type { RefusedCall } from '../rest/errors.ts';
import { operations } from '../rest/generated/views.ts';
import { accountOf, type Outlooks } from '../rest/ledger.ts';
import type { UpstreamResources } from '../rest/resilience/upstream-resources.ts';
import { type Surface, surfaces } from '../rest/rest-operations.ts';
import type { OperationResult } from './operation-result.ts';
import type { OperationRun } from './operation-run.ts';
import { overload, RequestError } from './request-error.ts';

/**
 * The limit of the REST calls that a caller may make on one surface in one window of time, and how many calls are left.
 * `window` and `resetsIn` are in seconds.
 */
export interface RateLimit {
  readonly surface: Surface;
  readonly window: number;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until all of `limit` is available again if no further call is made. */
  readonly resetsIn: number;
}

/** The error of an operation that ended because the gateway refused its first call. */
export function refusedOperation({ shortage, upstream }: RefusedCall): GraphQLError {
  if (shortage === undefined) return overload();
  const { surface, calls, window } = shortage;
  const needed = `The operation needs at least ${calls} REST ${calls === 1 ? 'call' : 'calls'} of the surface ${surface}`;
  if (window !== undefined) {
    const message = `${needed}, more than the ${window.limit} in ${window.ms / 1000} seconds that it may make.`;
    return new RequestError('rateLimited', message);
  }
  const { retryAfter = 1 } = upstream ?? {};
  const message = `${needed}, which can be made in ${retryAfter} seconds at the earliest.`;
  return new RequestError('rateLimited', message, {
    details: { retryAfter },
    headers: { 'retry-after': String(retryAfter) },
  });
}

/**
 * Adds to a result the rate limits of each surface that the operation called. If the client wants the cost, the cost
 * has these rate limits, too, and those of each surface in the plan. Without such a surface, nothing is looked up.
 */
export function withRateLimits(
  { request: { caller }, cost }: OperationRun,
  result: OperationResult,
  { limits }: Pick<UpstreamResources, 'limits'>,
): MaybePromise<OperationResult> {
  if (limits === undefined || caller === undefined) return result;
  const { surfaces: touched } = cost.calls;
  const planned = cost.wantsCost ? cost.plan?.calls.map(({ operation }) => operations[operation].surface) : [];
  const asked = surfaces.filter((surface) => touched.has(surface) || planned?.includes(surface) === true);
  if (asked.length === 0) return result;
  return limits.look(accountOf(caller), asked).then((outlooks) => {
    const all = rateLimitsOf(outlooks);
    const rateLimits = all.filter(({ surface }) => touched.has(surface));
    if (!cost.wantsCost) return { ...result, rateLimits };
    cost.rateLimits = all;
    return { ...result, rateLimits, extensions: cost.extensions() };
  });
}

/** The rate limits of surfaces, as clients see them. */
function rateLimitsOf(outlooks: Outlooks): readonly RateLimit[] {
  return [...outlooks].flatMap(([surface, windows]) =>
    windows.map(({ ms, limit, remaining, resetsInMs }) => ({
      ...{ surface, limit, remaining },
      window: ms / 1000,
      resetsIn: Math.ceil(resetsInMs / 1000),
    })),
  );
}

/** The rate limit with the fewest calls left, for each surface. */
export function scarcestOf(limits: readonly RateLimit[]): readonly RateLimit[] {
  return [...Map.groupBy(limits, ({ surface }) => surface).values()].map((all) => all.reduce(scarcer));
}

/** The rate limit with fewer calls left. If both have equally many left, the one that resets later. */
function scarcer(one: RateLimit, other: RateLimit): RateLimit {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.resetsIn > other.resetsIn)
    ? one
    : other;
}
