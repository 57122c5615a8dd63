import type { SharedRedis } from '../../redis.ts';
import { RedisAnswers } from './redis-answers.ts';
import { RedisEpochs } from './redis-epochs.ts';
import type { CacheOptions } from './rest-cache.ts';

/** Settings of the shared part of the caches. */
export interface SharedCacheOptions {
  /** Part of every name in Redis: several upstreams may share one Redis. */
  readonly upstreamUrl: string;
}

/** Makes the parts of the cache that gateways share in one Redis: the epochs of keys and the answers. */
export function shareCache(
  redis: SharedRedis,
  { upstreamUrl }: SharedCacheOptions,
): Pick<CacheOptions, 'epochs' | 'remote'> {
  return { epochs: new RedisEpochs(redis, upstreamUrl), remote: new RedisAnswers(redis, upstreamUrl) };
}
