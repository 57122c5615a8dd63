import type { SharedRedis } from '../../redis.ts';
import { RedisAnswers } from './redis-answers.ts';
import { RedisEpochs } from './redis-epochs.ts';
import type { CacheOptions } from './rest-cache.ts';

/** What is cached, and for whom. */
export interface SharedCacheOptions {
  /** Tells the answers of several upstreams in one Redis apart. */
  readonly upstreamUrl: string;
}

/** What gateways with one Redis share of their caches. */
export function shareCache(
  redis: SharedRedis,
  { upstreamUrl }: SharedCacheOptions,
): Pick<CacheOptions, 'epochs' | 'remote'> {
  return { epochs: new RedisEpochs(redis, upstreamUrl), remote: new RedisAnswers(redis, upstreamUrl) };
}
