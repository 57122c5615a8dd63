import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { backoffBy, Pace } from '../../src/live/pace.ts';
import type { CallLimits, Outlooks } from '../../src/rest/ledger.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** A pace on the fake clock. */
function createPace(pollMs: number, backoffOf?: (key: string) => number) {
  const pace = new Pace({ pollMs, backoffOf, deadlineMs: 5000 });
  let polls = 0;
  const reserve = (key: string): number => pace.reserve(key, `${(polls += 1)}`);
  /** Polls with a key, if that need not wait; returns how long it has to. */
  const poll = async (key: string, calls = 1): Promise<number> => {
    const waitMs = reserve(key);
    if (waitMs === 0) await pace.next(key, `${polls}`, calls);
    return waitMs;
  };
  return { pace, reserve, poll };
}

test('a key without a budget is polled sixty times a minute at most, whatever its tails do', async () => {
  const { reserve, poll } = createPace(2000);
  const waits = await Promise.all(Array.from({ length: 61 }, () => poll('key')));
  expect([new Set(waits.slice(0, 60)), waits[60]]).toEqual([new Set([0]), 60_000]);
  vi.advanceTimersByTime(60_000);
  expect(reserve('key')).toBe(0);
});

test('polls with ten thousand invented keys evict no counts of a proven key', async () => {
  const { pace, reserve, poll } = createPace(2000);
  expect(pace.reserve('key', 'first')).toBe(0);
  await pace.next('key', 'first', 1, true);
  for (let polls = 1; polls < 60; polls += 1) await poll('key');
  for (let nth = 0; nth <= 10_000; nth += 1) await poll(`invented ${nth}`);
  expect(reserve('key')).toBe(60_000);
});

test('a poll counts while it is not answered, and a minute longer, for it may be late to arrive', async () => {
  const { pace, reserve, poll } = createPace(2000);
  expect(pace.reserve('key', 'late')).toBe(0);
  for (let polls = 1; polls < 60; polls += 1) await poll('key');
  vi.advanceTimersByTime(50);
  await pace.next('key', 'late', 1);
  vi.advanceTimersByTime(60_000 - 50);
  for (let polls = 1; polls < 60; polls += 1) expect(await poll('key')).toBe(0);
  expect(reserve('key')).toBe(50);
});

test('a key of which all polls are under way is asked for again when the first of them can have left the minute', () => {
  const { reserve } = createPace(2000);
  const waits = Array.from({ length: 61 }, () => reserve('key'));
  expect(waits[60]).toBe(60_000);
});

test('keys do not wait for one another', () => {
  const { reserve } = createPace(2000);
  for (let polls = 0; polls < 60; polls += 1) reserve('busy');
  expect(reserve('quiet')).toBe(0);
});

test('many tails of one key are spread over the minute', async () => {
  const { pace } = createPace(10_000);
  for (let tails = 0; tails < 30; tails += 1) pace.join('key');
  expect(await pace.next('key', 'poll', 1)).toBe(30_000);
});

test('a poll that takes several calls is followed by a longer pause', async () => {
  const { pace } = createPace(2000);
  pace.join('key');
  expect([await pace.next('key', 'one', 1), await pace.next('key', 'other', 11)]).toEqual([2000, 11_000]);
});

test('each call of a poll counts, also beyond what the key has left', async () => {
  const { reserve, poll } = createPace(2000);
  for (let polls = 0; polls < 5; polls += 1) expect(await poll('key', 11)).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(await poll('key', 11)).toBe(0);
  expect(reserve('key')).toBe(59_000);
  vi.advanceTimersByTime(59_000);
  expect(reserve('key')).toBe(0);
});

test('a key whose last tail has ended has no more polls for its next one', async () => {
  const { pace, reserve, poll } = createPace(2000);
  for (let polls = 0; polls < 60; polls += 1) {
    pace.join('key');
    expect(await poll('key')).toBe(0);
    pace.leave('key');
  }
  pace.join('key');
  expect(reserve('key')).toBe(60_000);
  vi.advanceTimersByTime(60_001);
  expect(reserve('key')).toBe(0);
});

test('a key with a budget is polled as slowly as that wants', async () => {
  const { pace, reserve } = createPace(2000, () => 2.5);
  pace.join('key');
  for (let polls = 0; polls < 100; polls += 1) expect(reserve('key')).toBe(0);
  expect(await pace.next('key', '1', 1)).toBe(5000);
});

test('a key whose budget cannot say how slow it has to be is polled at the usual interval', async () => {
  const { pace } = createPace(2000, () => {
    throw new Error('the budget is gone');
  });
  pace.join('key');
  expect(await pace.next('key', 'poll', 1)).toBe(2000);
});

/** A budget of which so much is left of a hundred calls, in each of its windows; undefined: events have none. */
function budgetWith(...left: readonly number[]): Pick<CallLimits, 'covers' | 'look'> {
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
  expect([budgetWith(), undefined].map(backoffBy)).toEqual([undefined, undefined]);
});
