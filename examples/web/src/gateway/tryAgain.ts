import type { QueryClientConfig, UseQueryResult } from '@tanstack/react-query';
import { Answer } from './Answer.ts';
import { isAway } from './GatewayError.ts';

/** Milliseconds between two tries of a read while the gateway is away. */
const tryAgainMs = 1000;

/**
 * Reads that get no answer of the gateway are tried again until one comes, so that a page is whole a moment after the gateway
 * is back. So is what the gateway left unfinished. All other failures are final: the gateway has already tried twice if a
 * second try can help.
 */
export const tryAgain: NonNullable<NonNullable<QueryClientConfig['defaultOptions']>['queries']> = {
  retry: (_count, error) => isAway(error),
  retryDelay: tryAgainMs,
  refetchInterval: ({ state }) => (answersIn(state.data).some(isUnfinished) ? tryAgainMs : false),
};

/** Why a query has no data, or no more: its error, or that the gateway is away. */
export function errorOf({ error, failureReason }: Pick<UseQueryResult, 'error' | 'failureReason'>): Error | undefined {
  return error ?? (isAway(failureReason) ? failureReason : undefined);
}

/** The answers that a query keeps: one, or one for each page of a list. */
function answersIn(data: unknown): readonly unknown[] {
  return typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages)
    ? data.pages
    : [data];
}

function isUnfinished(answer: unknown): boolean {
  return answer instanceof Answer && isAway(answer.result.failure);
}
