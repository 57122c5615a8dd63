import { expect, test } from 'vitest';
import { RecentLeast } from '../../src/rest/budget/budget-counts.ts';

test('a value counts for half a minute at least and for a minute at most', () => {
  let seconds = 0;
  const least = new RecentLeast(() => seconds * 1000);
  expect(least.value).toBeUndefined();
  seconds = 25;
  least.add(0.2);
  least.add(0.7);
  expect(least.value).toBe(0.2);
  seconds = 55;
  least.add(0.5);
  expect(least.value).toBe(0.2);
  seconds = 60;
  expect(least.value).toBe(0.5);
  seconds = 90;
  expect(least.value).toBeUndefined();
});

test('a value that was added long ago counts no more', () => {
  let seconds = 0;
  const least = new RecentLeast(() => seconds * 1000);
  least.add(0.1);
  seconds = 100_000;
  expect(least.value).toBeUndefined();
  least.add(0.9);
  expect(least.value).toBe(0.9);
});
