import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { UpstreamError } from '../../src/rest/errors.ts';
import type { Attempt, Outcome } from '../../src/rest/resilience/gate.ts';
import { RateLimitPauses } from '../../src/rest/resilience/rate-limit-pauses.ts';
import { attemptOf } from '../support/attempts.ts';

const refused: Outcome = {
  ...{ kind: 'answered', status: 429, provesKey: false, tookMs: 1 },
  error: new UpstreamError('RATE_LIMITED', { status: 429, retryAfter: 30 }),
};

test('the pause of a proven key goes on, however many invented keys are refused', async () => {
  const pauses = new RateLimitPauses({ isProven: ({ sharingKey }) => sharingKey === 'own' });
  pauses.leave(attemptOf('own'), refused);
  for (let index = 0; index < 10_001; index += 1) pauses.leave(attemptOf(`invented ${index}`), refused);
  await expect(pauses.enter(attemptOf('own'))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(pauses.enter(attemptOf('invented 0'))).toBeUndefined();
});

test('a read that leaves while it waits gives its place to a later one', () => {
  const pauses = new RateLimitPauses({ isProven: () => true });
  const endsAt = performance.now() + 60_000;
  const delays: number[] = [];
  const sleeping = (): Attempt => ({
    ...attemptOf('own', { endsAt }),
    sleep: (milliseconds) => {
      delays.push(milliseconds);
      return new Promise(() => undefined);
    },
  });
  pauses.leave(attemptOf('own'), refused);
  const left = Array.from({ length: 1000 }, sleeping);
  for (const attempt of left) void pauses.enter(attempt);
  for (const attempt of left) pauses.leave(attempt, { kind: 'not-sent' });
  void pauses.enter(sleeping());
  expect(Math.max(...delays)).toBeGreaterThan(50_000);
  expect(delays.at(-1)).toBeLessThanOrEqual(30_000);
});

test('a read whose timer fires early keeps its place', async () => {
  const pauses = new RateLimitPauses({ isProven: () => true });
  const endsAt = performance.now() + 31_000;
  const delays: number[] = [];
  const first: Attempt = {
    ...attemptOf('own', { endsAt }),
    sleep: (milliseconds) => {
      delays.push(milliseconds);
      return delays.length === 1 ? setImmediate() : new Promise(() => undefined);
    },
  };
  pauses.leave(attemptOf('own'), refused);
  void pauses.enter(first);
  for (let later = 0; later < 20; later += 1)
    void pauses.enter({ ...attemptOf('own', { endsAt }), sleep: () => new Promise(() => undefined) });
  await vi.waitUntil(() => delays.length === 2);
  expect(delays.at(-1)).toBeLessThanOrEqual(30_000);
});
