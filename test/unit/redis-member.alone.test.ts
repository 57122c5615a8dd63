import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Membership, othersBackMs } from '../../src/rest/budget/membership.ts';
import { RedisMember } from '../../src/rest/budget/redis-member.ts';
import type { ScriptReply } from '../../src/rest/budget/redis-script.ts';
import { RedisWaves } from '../../src/rest/budget/redis-waves.ts';
import { budgetOf } from '../support/budgets.ts';

const { windows } = budgetOf({ rest: '10/1' });
const now = (): number => performance.now();

/** A Redis in which three gateways count, and have for an hour. */
class AnsweredWaves extends RedisWaves {
  isReachable = true;

  constructor() {
    const times = { longestCallMs: 6000, longestWindowMs: 1000 };
    const redis = new Redis({ lazyConnect: true });
    super({ redis, upstreamUrl: 'http://upstream.test', gateway: 'gateway', ...times, hasShares: false, now });
  }

  override async run(): Promise<ScriptReply> {
    if (!this.isReachable) throw new Error('connection closed');
    const state = { ageMs: 3_600_000, gateways: 3, tellsProcess: true, verdicts: [], states: [] };
    return { born: '1 process', joined: state };
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('calls that wait are decided anew when Redis is back, and again once all others can be back', async () => {
  const waves = new AnsweredWaves();
  const membership = new Membership(3, now);
  const member = new RedisMember({ waves, membership, windows, calls: () => [], now, log: () => undefined });
  await member.join();
  await vi.advanceTimersByTimeAsync(othersBackMs);
  waves.isReachable = false;
  member.leave('connection closed');
  // For longer than a window: meanwhile the others have made calls of their part.
  await vi.advanceTimersByTimeAsync(5000);
  const limits: unknown[] = [];
  member.onJoined = () => limits.push(membership.limitsOf(windows.rest ?? []));
  waves.isReachable = true;
  await vi.advanceTimersByTimeAsync(1000);
  expect(limits).toEqual([[3]]);
  await vi.advanceTimersByTimeAsync(othersBackMs);
  expect(limits).toEqual([[3], [Number.MAX_SAFE_INTEGER]]);
  member.close();
});
