import { expect, test } from 'vitest';
import { LogThrottle } from '../../src/log.ts';

test('a reason that comes again within each minute is logged at the first time only', () => {
  let now = 0;
  const throttle = new LogThrottle(() => now);
  const logged = Array.from({ length: 10 }, () => {
    now += 50_000;
    return throttle.mayLogFirst('a');
  });
  expect(logged.filter(Boolean)).toHaveLength(1);
  now += 60_000;
  expect([throttle.mayLogFirst('a'), throttle.mayLogFirst('b')]).toEqual([true, true]);
});

test('each reason is logged once a minute at most, whatever comes in between', () => {
  let now = 0;
  const throttle = new LogThrottle(() => now);
  const told = ['a', 'b', 'a', 'b', 'a'].map((reason) => throttle.mayLog(reason));
  expect(told).toEqual([true, true, false, false, false]);
  now = 59_999;
  expect(throttle.mayLog('a')).toBe(false);
  now = 60_000;
  expect([throttle.mayLog('a'), throttle.mayLog('a')]).toEqual([true, false]);
});
