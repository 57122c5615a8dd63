import type { BudgetStatus } from '../operation/cost.ts';

/**
 * The headers for what is left of the budgets that an operation used, as structured fields. Each window is a policy;
 * for each surface, the window with the least left is reported. `retryAfter` is the answer's own header: no reported
 * window ends after it.
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/11/
 */
export function rateLimitHeaders(windows: readonly BudgetStatus[], retryAfter?: string): Record<string, string> {
  if (windows.length === 0) return {};
  const latest = retryAfter === undefined ? Number.POSITIVE_INFINITY : Number(retryAfter);
  const policies = windows.map((window) => `"${nameOf(window)}";q=${window.limit};w=${window.window}`);
  const limits = scarcestOf(windows).map(
    (window) => `"${nameOf(window)}";r=${window.remaining};t=${Math.min(window.resetsIn, latest)}`,
  );
  return { 'ratelimit-policy': policies.join(', '), ratelimit: limits.join(', ') };
}

function nameOf({ surface, window }: BudgetStatus): string {
  return `${surface}-${window}s`;
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
