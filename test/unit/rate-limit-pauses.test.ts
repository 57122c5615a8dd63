import { expect, test } from 'vitest';
import { UpstreamError } from '../../src/rest/errors.ts';
import type { Outcome } from '../../src/rest/resilience/gate.ts';
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
