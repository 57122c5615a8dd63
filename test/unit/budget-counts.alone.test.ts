import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BudgetCounts } from '../../src/rest/budget/budget-counts.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('the least that was left of a window counts for a minute, for each surface', () => {
  const counts = new BudgetCounts();
  expect([...counts.leastLeft()]).toEqual([]);
  counts.noteLeft('rest', 0.2);
  counts.noteLeft('rest', 0.7);
  counts.noteLeft('events', 1);
  expect(counts.leastLeft()).toEqual(
    new Map([
      ['rest', 0.2],
      ['events', 1],
    ]),
  );
  vi.advanceTimersByTime(59_000);
  counts.noteLeft('rest', 0.5);
  expect(counts.leastLeft().get('rest')).toBe(0.2);
  vi.advanceTimersByTime(2000);
  expect([...counts.leastLeft()]).toEqual([]);
  counts.noteLeft('rest', 0.5);
  expect(counts.leastLeft().get('rest')).toBe(0.5);
});
