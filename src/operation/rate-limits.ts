import type { GraphQLError } from 'graphql';
import type { Outlooks } from '../rest/budget/call-budget.ts';
import type { RefusedCall } from '../rest/errors.ts';
import type { Surface } from '../rest/rest-operations.ts';
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

/** The rate limits of surfaces, as clients see them. */
export function rateLimitsOf(outlooks: Outlooks): readonly RateLimit[] {
  return [...outlooks].flatMap(([surface, windows]) =>
    windows.map(({ ms, limit, remaining, resetsInMs }) => ({
      ...{ surface, limit, remaining },
      window: ms / 1000,
      resetsIn: Math.ceil(resetsInMs / 1000),
    })),
  );
}

/** The rate limit with the least left, for each surface. */
export function scarcestOf(limits: readonly RateLimit[]): readonly RateLimit[] {
  return [...Map.groupBy(limits, ({ surface }) => surface).values()].map((all) => all.reduce(scarcer));
}

/** The rate limit with less left; if both have the same left, the one that resets later. */
function scarcer(one: RateLimit, other: RateLimit): RateLimit {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.resetsIn > other.resetsIn)
    ? one
    : other;
}
