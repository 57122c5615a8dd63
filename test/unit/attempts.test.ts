import { expect, test } from 'vitest';
import { CallCounts } from '../../src/rest/call-counts.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { Attempts } from '../../src/rest/resilience/attempts.ts';
import { BreakerRegistry } from '../../src/rest/resilience/breaker-registry.ts';
import { ConcurrencyLimiter } from '../../src/rest/resilience/concurrency-limiter.ts';
import type { Line } from '../../src/rest/resilience/job.ts';
import { RateLimitPauses } from '../../src/rest/resilience/rate-limit-pauses.ts';
import { Reachability } from '../../src/rest/resilience/reachability.ts';
import { RetryBudget } from '../../src/rest/resilience/retry-budget.ts';
import { TransportError } from '../../src/rest/transport/transport.ts';

const now = (): number => performance.now();

const target = '/api/projects/';

/** A way with one slot to an upstream that never answers. */
function createSilentLine(): Line {
  return {
    transport: {
      send: (_call, done) => () => process.nextTick(done, new TransportError('aborted'), undefined),
      reroute: () => undefined,
      close: () => Promise.resolve(),
    },
    breakers: new BreakerRegistry({ now, onOpen: () => undefined }),
    limiter: new ConcurrencyLimiter({ most: 1, now }),
    pauses: new RateLimitPauses(now),
    budget: new RetryBudget(),
    counts: new CallCounts(),
    reachability: new Reachability({ host: 'upstream.test', log: () => undefined, now }),
    maxBodyBytes: 1000,
    now,
  };
}

function readOf(line: Line): Attempts {
  return new Attempts(line, {
    call: { method: 'GET', target, headers: {} },
    target,
    key: 'phx_test',
    callerHash: 'hash',
    isWrite: false,
    deadline: { endsAt: now() + 5000 },
    calls: new OperationCalls(10),
  });
}

test.each([0, 1, 2, 3, 4])('a call given up %i turns after its slot came keeps no slot', async (turns) => {
  const line = createSilentLine();
  line.limiter.take('another');
  const attempts = readOf(line);
  const ended = new Promise((resolve) => attempts.read({ succeed: resolve, fail: resolve }));
  line.limiter.release('another', 1);
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  attempts.cancel();
  await ended;
  expect(line.limiter.inFlight).toBe(0);
});

test.each([0, 1, 2, 3, 4])(
  'a probe given up %i turns after it was let in keeps no slot and no other probe back',
  async (turns) => {
    const line = createSilentLine();
    while (line.breakers.state === 'closed') line.breakers.failed({ kind: 'network', tookMs: 0 }, 'hash', target);
    const attempts = readOf(line);
    const ended = new Promise((resolve) => attempts.read({ succeed: resolve, fail: resolve }));
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    attempts.cancel();
    await ended;
    expect(line.limiter.inFlight).toBe(0);
    expect(line.breakers.enter('c', target, false).kind).toBe('probe');
  },
);
