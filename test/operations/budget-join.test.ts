import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import type { AccountCall } from '../../src/rest/budget/ledger.ts';
import { Membership } from '../../src/rest/budget/membership.ts';
import { RedisMember } from '../../src/rest/budget/redis-member.ts';
import type { ScriptReply } from '../../src/rest/budget/redis-script.ts';
import { RedisWaves, type Wave } from '../../src/rest/budget/redis-waves.ts';
import { budgetOf } from '../support/budgets.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

const { windows } = budgetOf({ rest: '10/60' });
const now = (): number => performance.now();

/** Loses all that Redis knows after the first wave. */
class InterruptedWaves extends RedisWaves {
  readonly #lose: () => Promise<unknown>;
  waves = 0;

  constructor(redis: Redis) {
    const times = { longestCallMs: 6000, longestWindowMs: 60_000 };
    super({ redis, upstreamUrl: 'http://upstream.test', gateway: 'gateway', ...times, hasShares: false, now });
    this.#lose = () => redis.flushall();
  }

  override async run(wave: Wave): Promise<ScriptReply> {
    const reply = await super.run(wave);
    this.waves += 1;
    if (this.waves === 1) await this.#lose();
    return reply;
  }
}

test.skipIf(!hasRedis)('a gateway sends all of its calls anew if Redis forgets while it receives them', async () => {
  await using server = await startRedis();
  const redis = new Redis(server.url);
  const waves = new InterruptedWaves(redis);
  const calls: readonly AccountCall[] = ['one', 'two'].map((id) => ({
    account: { key: 'key', surface: 'rest' },
    call: { id, subject: '', beganAt: now() - 100, endedAt: now() - 50 },
  }));
  const membership = new Membership(1, now);
  const member = new RedisMember({ waves, membership, windows, calls: () => calls, now, log: () => undefined });
  const joined = new Promise<void>((resolve) => {
    member.onJoined = resolve;
  });
  await member.join();
  await joined;
  const [set = ''] = await redis.keys('*:rest');
  expect((await redis.zrange(set, '0', '-1')).toSorted()).toEqual(['one', 'two']);
  member.close();
  redis.disconnect();
});
