import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LogThrottle } from '../../src/log.ts';

// The cache reads the clock of the object that it has found at its start, at most once a millisecond.
let now = 1;
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
});
afterEach(() => void vi.useRealTimers());

function advance(milliseconds: number): void {
  now += milliseconds;
  vi.advanceTimersByTime(milliseconds);
}

test('a reason that comes again within each minute is logged at the first time only', () => {
  const throttle = new LogThrottle();
  const logged = Array.from({ length: 10 }, () => {
    advance(50_000);
    return throttle.mayLogFirst('a');
  });
  expect(logged.filter(Boolean)).toHaveLength(1);
  advance(60_001);
  expect([throttle.mayLogFirst('a'), throttle.mayLogFirst('b')]).toEqual([true, true]);
});

test('each reason is logged once a minute at most, whatever comes in between', () => {
  const throttle = new LogThrottle();
  const told = ['a', 'b', 'a', 'b', 'a'].map((reason) => throttle.mayLog(reason));
  expect(told).toEqual([true, true, false, false, false]);
  advance(59_999);
  expect(throttle.mayLog('a')).toBe(false);
  advance(2);
  expect([throttle.mayLog('a'), throttle.mayLog('a')]).toEqual([true, false]);
});
