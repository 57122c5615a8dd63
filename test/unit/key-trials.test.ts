import { expect, test } from 'vitest';
import type { Caller } from '../../src/rest/caller.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { KeyTrials } from '../../src/rest/resilience/key-trials.ts';

const unauthenticated = new UpstreamError('UNAUTHENTICATED');

const tenant = {
  name: 'a',
  key: 'held',
  keyHash: 'held',
  entryHash: 'e',
  reach: undefined,
  mutations: new Set<string>(),
};

function callerOf(key: string): Caller {
  return { key, hash: key, sharingKey: key, queueKey: key };
}

/** Lets so many calls with the key in, of which all have a place. */
function enter(keys: KeyTrials, caller: Caller, count: number): readonly object[] {
  const calls = Array.from({ length: count }, () => ({}));
  for (const call of calls) expect(keys.enter(caller, call)).toBe(true);
  return calls;
}

test('a call that ends leaves its place to the one that has waited longest', async () => {
  const keys = new KeyTrials(() => 0);
  const caller = callerOf('new');
  const [first = {}] = enter(keys, caller, 8);
  const [ninth, tenth] = [{}, {}];
  expect(keys.enter(caller, ninth)).toBe(false);
  const waiting = keys.wait(caller, ninth);
  keys.wait(caller, tenth).started.catch(() => undefined);
  keys.left(caller, first);
  await waiting.started;
  expect([keys.enter(caller, ninth), keys.enter(caller, tenth), keys.waiting]).toEqual([true, false, 1]);
});

test('a rejected key is refused for five seconds, and then on trial again', () => {
  let now = 0;
  const keys = new KeyTrials(() => now);
  const caller = callerOf('invented');
  const calls = enter(keys, caller, 8);
  keys.reject(caller, unauthenticated);
  for (const call of calls) keys.left(caller, call);
  expect(keys.errorOf('invented')).toBe(unauthenticated);
  expect(keys.enter(caller, {})).toBe(false);
  expect(() => keys.wait(caller, {})).toThrow(unauthenticated);
  now = 5000;
  enter(keys, caller, 8);
  expect(keys.enter(caller, {})).toBe(false);
});

test('keys that the gateway holds are not on trial', () => {
  const keys = new KeyTrials(() => 0);
  enter(keys, { ...callerOf('held'), tenant }, 100);
  expect(keys.unproven).toBe(0);
});

test('invented keys drive out no proven key, and are remembered in a bounded number', () => {
  const keys = new KeyTrials(() => 0);
  const known = callerOf('known');
  const [call = {}] = enter(keys, known, 1);
  keys.prove(known);
  keys.left(known, call);
  for (let index = 0; index < 30_000; index += 1) {
    const invented = callerOf(`invented ${index}`);
    const [one = {}] = enter(keys, invented, 1);
    keys.reject(invented, unauthenticated);
    keys.left(invented, one);
  }
  enter(keys, known, 20);
  expect([keys.errorOf('invented 29999'), keys.errorOf('invented 20000')]).toEqual([unauthenticated, unauthenticated]);
  expect(keys.errorOf('invented 19999')).toBeUndefined();
  expect(keys.unproven).toBe(0);
});

test('a thousand calls wait for the proof of one key at most, and ten thousand for all', () => {
  const keys = new KeyTrials(() => 0);
  const refusals = Array.from({ length: 20 }, (_, index) => {
    const caller = callerOf(`key ${index}`);
    enter(keys, caller, 8);
    let refused = 0;
    for (let call = 0; call < 1200; call += 1) {
      try {
        keys.wait(caller, {}).started.catch(() => undefined);
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
