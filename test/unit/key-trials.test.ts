import { expect, onTestFinished, test, vi } from 'vitest';
import { UpstreamError } from '../../src/rest/errors.ts';
import type { Attempt, Outcome } from '../../src/rest/resilience/gate.ts';
import { KeyTrials } from '../../src/rest/resilience/key-trials.ts';
import { attemptOf, successAfter, heldTenant as tenant } from '../support/attempts.ts';
import { pause } from '../support/load.ts';

const unauthenticated = new UpstreamError('UNAUTHENTICATED');
const rejected: Outcome = { kind: 'answered', status: 401, error: unauthenticated, provesKey: false, tookMs: 1 };
const unavailable: Outcome = {
  ...{ kind: 'answered', status: 503, provesKey: false, tookMs: 1 },
  error: new UpstreamError('UPSTREAM_UNAVAILABLE'),
};

/** Lets so many attempts with the key in, of which all have a place. */
function enter(keys: KeyTrials, key: string, count: number): readonly Attempt[] {
  const attempts = Array.from({ length: count }, () => attemptOf(key));
  for (const attempt of attempts) expect(keys.enter(attempt)).toBeUndefined();
  return attempts;
}

test('an attempt that ends leaves its place to the one that has waited longest', async () => {
  const keys = new KeyTrials();
  const [first = attemptOf('new')] = enter(keys, 'new', 8);
  const [ninth, tenth] = [attemptOf('new'), attemptOf('new')];
  const started: string[] = [];
  const waiting = keys.enter(ninth)?.then(() => started.push('ninth'));
  void keys.enter(tenth)?.then(() => started.push('tenth'));
  keys.leave(first, unavailable);
  await waiting;
  expect([started, keys.waiting, ninth.isTrial, first.isTrial]).toEqual([['ninth'], 1, true, false]);
});

test('a rejected key is refused for five seconds, and then on trial again', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
  onTestFinished(() => clock.mockRestore());
  const keys = new KeyTrials();
  const attempts = enter(keys, 'invented', 8);
  for (const attempt of attempts) keys.leave(attempt, rejected);
  expect(keys.errorOf('invented')).toBe(unauthenticated);
  expect(() => keys.enter(attemptOf('invented'))).toThrow(unauthenticated);
  clock.mockReturnValue(6001);
  // The map reads the clock once a millisecond.
  await pause(5);
  enter(keys, 'invented', 8);
  expect(keys.enter(attemptOf('invented'))).toBeInstanceOf(Promise);
});

test('keys that the gateway holds are not on trial', () => {
  const keys = new KeyTrials();
  const { caller } = attemptOf('held').run;
  for (let call = 0; call < 100; call += 1)
    expect(keys.enter(attemptOf('held', { caller: { ...caller, tenant } }))).toBeUndefined();
  expect(keys.unproven).toBe(0);
});

test('invented keys drive out no proven key, and are remembered in a bounded number', () => {
  const keys = new KeyTrials();
  for (const attempt of enter(keys, 'known', 1)) keys.leave(attempt, successAfter(1));
  for (let index = 0; index < 30_000; index += 1) {
    for (const attempt of enter(keys, `invented ${index}`, 1)) keys.leave(attempt, rejected);
  }
  enter(keys, 'known', 20);
  expect([keys.errorOf('invented 29999'), keys.errorOf('invented 20000')]).toEqual([unauthenticated, unauthenticated]);
  expect(keys.errorOf('invented 19999')).toBeUndefined();
  expect(keys.unproven).toBe(0);
});

test('a thousand calls wait for the proof of one key at most, and ten thousand for all', () => {
  const keys = new KeyTrials();
  const refusals = Array.from({ length: 20 }, (_, index) => {
    enter(keys, `key ${index}`, 8);
    let refused = 0;
    for (let call = 0; call < 1200; call += 1) {
      try {
        keys.enter(attemptOf(`key ${index}`))?.catch(() => undefined);
      } catch (error) {
        if (error instanceof UpstreamError && error.code === 'OVERLOADED') refused += 1;
      }
    }
    return refused;
  });
  expect(refusals).toEqual([...Array<number>(10).fill(200), ...Array<number>(10).fill(1200)]);
  expect([keys.waiting, keys.sheds]).toEqual([10_000, 14_000]);
  keys.flush(new UpstreamError('UPSTREAM_UNAVAILABLE'));
  expect(keys.waiting).toBe(0);
});
