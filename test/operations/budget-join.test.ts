import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import type { AccountCall } from '../../src/rest/budget/ledger.ts';
import { Membership } from '../../src/rest/budget/membership.ts';
import { RedisMember } from '../../src/rest/budget/redis-member.ts';
import type { ScriptReply } from '../../src/rest/budget/redis-script.ts';
import { RedisWaves, type Wave } from '../../src/rest/budget/redis-waves.ts';
import { budgetOf } from '../support/budgets.ts';
import { startGateway } from '../support/gateway.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';

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

/** How often Redis has refused to run a script, or failed to. */
async function refusedScripts(redis: RedisServer): Promise<number> {
  const statistics = String(await redis.ask('INFO', 'commandstats'));
  const [, rejected = 0, failed = 0] =
    /^cmdstat_eval:.*rejected_calls=(\d+),failed_calls=(\d+)/m.exec(statistics) ?? [];
  return Number(rejected) + Number(failed);
}

test.skipIf(!hasRedis).each([
  {
    reason: 'NOPERM',
    forbid: (redis: RedisServer) => redis.ask('ACL', 'SETUSER', 'gateway', 'on', 'nopass', '~*', '+@all', '-eval'),
    allow: (redis: RedisServer) => redis.ask('ACL', 'SETUSER', 'gateway', '+eval'),
  },
  {
    reason: 'READONLY',
    forbid: async (redis: RedisServer) => {
      await redis.ask('ACL', 'SETUSER', 'gateway', 'on', 'nopass', '~*', '+@all');
      await redis.ask('CONFIG', 'SET', 'replica-serve-stale-data', 'yes');
      await redis.ask('REPLICAOF', '127.0.0.1', '1');
    },
    allow: (redis: RedisServer) => redis.ask('REPLICAOF', 'NO', 'ONE'),
  },
])('a gateway that Redis does not let count from its start says so once, with $reason', async (one) => {
  const { reason, forbid, allow } = one;
  await using redis = await startRedis();
  await forbid(redis);
  const logged: unknown[] = [];
  await using gateway = await startGateway(
    { url: 'http://127.0.0.1:1' },
    {
      persisted: { redisUrl: redis.url.replace('//', '//gateway:any@') },
      budget: budgetOf({ rest: '10/60' }, { replicas: 2 }),
      log: (_level, message, fields) => void (message.includes('counted') && logged.push({ message, ...fields })),
    },
  );
  const refusal = 'calls cannot be counted in Redis: this gateway has its part of the budget';
  // It tries again and again.
  await vi.waitFor(async () => expect(await refusedScripts(redis)).toBeGreaterThan(3), { timeout: 20_000 });
  expect(logged).toEqual([{ message: refusal, reason }]);
  await allow(redis);
  const joined = { message: 'calls are counted in Redis again' };
  await vi.waitFor(() => expect(logged).toEqual([{ message: refusal, reason }, joined]), { timeout: 20_000 });
  expect(gateway.reported).toEqual([]);
});
