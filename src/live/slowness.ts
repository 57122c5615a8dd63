import type { CallBudget, Outlooks } from '../rest/budget/call-budget.ts';

/** Polls are as often as they may be while so much of each window is left; with less of it they are slower. */
const plenty = 0.5;

/** Polls are never slower than this. */
const mostSlowness = 10;

/** How many times slower a key is polled because its budget shrinks; undefined if events have none. */
export function slownessBy(budget: CallBudget): ((sharingKey: string) => number | Promise<number>) | undefined {
  if (!budget.covers('events')) return undefined;
  return (key) => {
    const outlooks = budget.look({ key, subject: '' }, ['events']);
    return outlooks instanceof Promise ? outlooks.then(slownessOf) : slownessOf(outlooks);
  };
}

function slownessOf(outlooks: Outlooks): number {
  const windows = outlooks.get('events') ?? [];
  const left = Math.min(plenty, ...windows.map(({ remaining, limit }) => remaining / limit));
  return left <= 0 ? mostSlowness : Math.min(plenty / left, mostSlowness);
}
