import { expect, test } from 'vitest';
import { LogThrottle } from '../../src/log.ts';

test('each reason is logged once a minute at most, whatever comes in between', () => {
  let now = 0;
  const throttle = new LogThrottle(() => now);
  const told = ['a', 'b', 'a', 'b', 'a'].map((reason) => throttle.takes(reason));
  expect(told).toEqual([true, true, false, false, false]);
  now = 59_999;
  expect(throttle.takes('a')).toBe(false);
  now = 60_000;
  expect([throttle.takes('a'), throttle.takes('a')]).toEqual([true, false]);
});
