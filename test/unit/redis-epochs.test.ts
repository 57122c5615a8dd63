import { expect, test, vi } from 'vitest';
import { connectRedis } from '../../src/redis.ts';
import { RedisEpochs } from '../../src/rest/cache/redis-epochs.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

test.skipIf(!hasRedis)(
  'what a proven key had read before a write is not given, though Redis has not heard of it nor of ten thousand others',
  async () => {
    await using server = await startRedis();
    const redis = connectRedis({ redisUrl: server.url });
    if (redis === undefined) throw new Error('no Redis');
    await until(() => redis.isUp);
    const epochs = new RedisEpochs(redis, 'http://upstream.test');
    const before = await epochs.current('own', true);
    expect(before).toBeDefined();
    const outage = vi.spyOn(redis, 'run').mockResolvedValue(undefined);
    expect(await epochs.renew('own', true)).toBeUndefined();
    for (let index = 0; index < 10_001; index += 1) await epochs.renew(`invented ${index}`, false);
    outage.mockRestore();
    const after = await epochs.current('own', true);
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
    redis.close();
  },
);
