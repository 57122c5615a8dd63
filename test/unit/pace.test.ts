import { expect, test } from 'vitest';
import { backoffBy, Pace } from '../../src/live/pace.ts';
import type { CallBudget, Outlooks } from '../../src/rest/budget/call-budget.ts';

/** A pace with a clock of its own. */
function createPace(pollMs: number, backoffOf?: (key: string) => number) {
  let time = 0;
  const pace = new Pace({ pollMs, backoffOf, now: () => time });
  /** Polls with a key, if that need not wait; returns how long it has to. */
  const poll = async (key: string, calls = 1): Promise<number> => {
    const waitMs = pace.take(key);
    if (waitMs === 0) await pace.next(key, calls);
    return waitMs;
  };
  return { pace, poll, pass: (milliseconds: number) => void (time += milliseconds) };
}

test('a key without a budget is polled sixty times a minute at most, whatever its tails do', async () => {
  const { pace, poll, pass } = createPace(2000);
  pace.join('key');
  const waits = await Promise.all(Array.from({ length: 61 }, () => poll('key')));
  expect([new Set(waits.slice(0, 60)), waits[60]]).toEqual([new Set([0]), 60_000]);
  pass(60_000);
  expect(pace.take('key')).toBe(0);
});

test('a poll counts while it is not answered, and a minute longer, for it may be late to arrive', async () => {
  const { pace, poll, pass } = createPace(2000);
  pace.join('key');
  expect(pace.take('key')).toBe(0);
  for (let polls = 1; polls < 60; polls += 1) await poll('key');
  pass(50);
  await pace.next('key', 1);
  pass(60_000 - 50);
  for (let polls = 1; polls < 60; polls += 1) expect(await poll('key')).toBe(0);
  expect(pace.take('key')).toBe(50);
});

test('a key of which all polls are under way is asked for again a moment later', () => {
  const { pace } = createPace(2000);
  pace.join('key');
  const waits = Array.from({ length: 61 }, () => pace.take('key'));
  expect(waits[60]).toBe(1000);
});

test('keys do not wait for one another', () => {
  const { pace } = createPace(2000);
  pace.join('busy');
  pace.join('quiet');
  for (let polls = 0; polls < 60; polls += 1) pace.take('busy');
  expect(pace.take('quiet')).toBe(0);
});

test('many tails of one key are spread over the minute', async () => {
  const { pace } = createPace(10_000);
  for (let tails = 0; tails < 30; tails += 1) pace.join('key');
  expect(await pace.next('key', 1)).toBe(30_000);
});

test('a poll that takes several calls is followed by a longer pause', async () => {
  const { pace } = createPace(2000);
  pace.join('key');
  expect([await pace.next('key', 1), await pace.next('key', 11)]).toEqual([2000, 11_000]);
});

test('a key whose last tail has ended has no more polls for its next one', async () => {
  const { pace, poll, pass } = createPace(2000);
  for (let polls = 0; polls < 60; polls += 1) {
    pace.join('key');
    expect(await poll('key')).toBe(0);
    pace.leave('key');
  }
  pace.join('key');
  expect(pace.take('key')).toBe(60_000);
  pass(60_001);
  expect(pace.take('key')).toBe(0);
});

test('a key with a budget is polled as slowly as that wants', async () => {
  const { pace } = createPace(2000, () => 2.5);
  pace.join('key');
  for (let polls = 0; polls < 100; polls += 1) expect(pace.take('key')).toBe(0);
  expect(await pace.next('key', 1)).toBe(5000);
});

test('a key whose budget cannot say how slow it has to be is polled at the usual interval', async () => {
  const { pace } = createPace(2000, () => {
    throw new Error('the budget is gone');
  });
  pace.join('key');
  expect(await pace.next('key', 1)).toBe(2000);
});

/** A budget of which so much is left of a hundred calls, in each of its windows; undefined: events have none. */
function budgetWith(...left: readonly number[]): Pick<CallBudget, 'covers' | 'look'> {
  const windows = left.map((remaining) => ({ ms: 60_000, limit: 100, remaining, resetsInMs: 0 }));
  const outlooks: Outlooks = new Map([['events', windows]]);
  return {
    look: () => Promise.resolve(outlooks),
    covers: (surface) => surface === 'events' && left.length > 0,
  };
}

test.each([
  [[100], 1],
  [[50], 1],
  [[25], 2],
  [[100, 10], 5],
  [[1], 10],
  [[0], 10],
])('with %j of a hundred calls left, polls wait %i times as long', async (left, backoff) => {
  expect(await backoffBy(budgetWith(...left))?.('key')).toBe(backoff);
});

test('a budget that has none for events leaves the pace to the limit of keys without one', () => {
  expect(backoffBy(budgetWith())).toBeUndefined();
});
