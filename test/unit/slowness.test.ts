import { expect, test } from 'vitest';
import { slownessBy } from '../../src/live/slowness.ts';
import type { CallBudget, Outlooks } from '../../src/rest/budget/call-budget.ts';

/** A budget of which so much is left of a hundred calls, in each of its windows; undefined: events have none. */
function budgetWith(...left: readonly number[]): CallBudget {
  const windows = left.map((remaining) => ({ ms: 60_000, limit: 100, remaining, resetsInMs: 0 }));
  const outlooks: Outlooks = new Map([['events', windows]]);
  return {
    claim: () => {
      throw new Error('nothing is called');
    },
    look: () => Promise.resolve(outlooks),
    covers: (surface) => surface === 'events' && left.length > 0,
    close: () => undefined,
  };
}

test.each([
  [[100], 1],
  [[50], 1],
  [[25], 2],
  [[100, 10], 5],
  [[1], 10],
  [[0], 10],
])('with %j of a hundred calls left, polls are %i times slower', async (left, slowness) => {
  expect(await slownessBy(budgetWith(...left))?.('key')).toBe(slowness);
});

test('a budget that has none for events leaves the pace to the limit of keys without one', () => {
  expect(slownessBy(budgetWith())).toBeUndefined();
});
