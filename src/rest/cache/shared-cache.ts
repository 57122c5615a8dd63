import type { RedisOptions } from '../../redis.ts';
import { CacheRedis } from './cache-redis.ts';
import { RedisAnswers } from './redis-answers.ts';
import { RedisEpochs } from './redis-epochs.ts';
import type { CacheOptions } from './rest-cache.ts';

/** What gateways with one Redis share of their caches; `upstreamUrl` tells those of several upstreams apart. */
export function shareCache(options: RedisOptions, upstreamUrl: string): Pick<CacheOptions, 'epochs' | 'remote'> {
  const redis = new CacheRedis(options);
  return { epochs: new RedisEpochs(redis, upstreamUrl), remote: new RedisAnswers(redis, upstreamUrl) };
}
