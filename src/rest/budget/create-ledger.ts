import type { Log } from '../../log.ts';
import type { SharedRedis } from '../../redis.ts';
import type { Ledger } from '../ledger.ts';
import { LocalLedger } from './local-ledger.ts';
import { RedisLedger } from './redis-ledger.ts';
import type { BudgetSettings } from './settings.ts';

interface LedgerOptions {
  readonly settings: BudgetSettings;
  /** The total deadline of an operation, in milliseconds. */
  readonly operationDeadlineMs: number;
  /** A part of every name in Redis, because several upstreams may share one Redis. */
  readonly upstreamUrl: string;
  /** The Redis in which gateways count together. */
  readonly redis?: SharedRedis | undefined;
  readonly log?: Log;
}

/** The age of a call up to which operations may join it, in milliseconds. So the call may last that much longer. */
const joinedMs = 1000;

/** The time allowed for messages between processes, in milliseconds. */
const toleranceMs = 500;

/** Makes the ledger. With a Redis, all gateways count calls in it together. Otherwise this process counts alone. */
export function createLedger(options: LedgerOptions): Ledger {
  const { settings, operationDeadlineMs, upstreamUrl, redis, log = () => undefined } = options;
  const longestCallMs = operationDeadlineMs + joinedMs + toleranceMs;
  if (redis === undefined) return new LocalLedger({ ...settings, longestCallMs, gateways: 1 });
  return new RedisLedger({ ...settings, longestCallMs, gateways: settings.replicas, redis, upstreamUrl, log });
}
