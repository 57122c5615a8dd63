import { expect, test, vi } from 'vitest';
import type { SharedRedis } from '../../src/redis.ts';
import { RedisEpochs } from '../../src/rest/cache/redis-epochs.ts';
import { connectTo, hasRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

/** A connection to a Redis, and the epochs there. */
async function connect(url: string): Promise<{ redis: SharedRedis; epochs: RedisEpochs; logged: readonly string[] }> {
  const redis = connectTo(url);
  await until(() => redis.isUp);
  const logged: string[] = [];
  const epochs = new RedisEpochs(redis, 'http://upstream.test', (_level, message) => logged.push(message));
  return { redis, epochs, logged };
}

test.skipIf(!hasRedis)(
  'what a proven key had read before a write is not given, though Redis has not heard of it nor of ten thousand others',
  async () => {
    await using server = await startRedis();
    const { redis, epochs } = await connect(server.url);
    const before = await epochs.current('own', true);
    expect(before).toBeDefined();
    const outage = vi.spyOn(redis, 'run').mockResolvedValue(undefined);
    expect(await epochs.renew('own', true)).toBeUndefined();
    for (let index = 0; index < 10_001; index += 1) await epochs.renew(`invented ${index}`, false);
    outage.mockRestore();
    const after = await epochs.current('own', true);
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
  },
);

test.skipIf(!hasRedis)('a server without a replication id gives no epoch, and the log says so once', async () => {
  await using server = await startRedis();
  const { redis, epochs, logged } = await connect(server.url);
  expect(await epochs.current('own', true)).toBeDefined();
  expect(logged).toEqual([]);
  vi.spyOn(redis, 'run').mockResolvedValue(['', 'epoch']);
  for (const _ of [1, 2]) expect(await epochs.current('own', true)).toBeUndefined();
  expect(logged).toEqual(['Redis shows no master_replid: no answers are cached']);
});

test.each(['redis://127.0.0.1:1', 'redis+cluster://127.0.0.1:1', 'redis+sentinel://127.0.0.1:1/main/0'])(
  'a purge of all keys that reaches no server of %s is none',
  async (redisUrl) => {
    const epochs = new RedisEpochs(connectTo(redisUrl), 'http://upstream.test', () => undefined);
    expect(await epochs.purge(undefined)).toBeUndefined();
  },
);
