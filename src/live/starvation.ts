import { type BudgetSettings, shareOf } from '../rest/budget/settings.ts';
import type { Caller } from '../rest/caller.ts';
import { mostCalls } from './walk.ts';

/**
 * Why polls in the name of a caller could starve: a window of their budget never has room for a whole one. Undefined if each
 * has. The most calls of a poll decide, because a list that is quiet now may need them any time.
 */
export function starvationOf({ windows, share }: BudgetSettings, { subject = '' }: Caller): string | undefined {
  for (const { limit, ms } of windows.events ?? []) {
    const own = subject === '' ? limit : shareOf(limit, share);
    if (own < mostCalls) {
      const needed = `The subscription needs room for a poll of up to ${mostCalls} REST calls of the surface events`;
      return `${needed}, more than the ${own} in ${ms / 1000} seconds that it may make.`;
    }
  }
  return undefined;
}
