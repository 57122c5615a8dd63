import { randomBytes } from 'node:crypto';
import type { Log } from '../../log.ts';
import type { SharedRedis } from '../../redis.ts';
import { BudgetScheduler } from './budget-scheduler.ts';
import type { CallBudget } from './call-budget.ts';
import type { Ledger } from './ledger.ts';
import { LocalLedger, type LocalLedgerOptions } from './local-ledger.ts';
import { RedisCounts } from './redis-counts.ts';
import { type BudgetSettings, percentOf } from './settings.ts';
import { SharedLedger } from './shared-ledger.ts';

/** Options of a budget, beside its settings. */
export interface BudgetOptions {
  readonly settings: BudgetSettings;
  /** The total deadline of an operation, in milliseconds. */
  readonly operationDeadlineMs: number;
  /** Most calls in flight. */
  readonly maxInFlight: number;
  /** Part of every name in Redis: several upstreams may share one Redis. */
  readonly upstreamUrl: string;
  /** The Redis in which gateways count together; without one this gateway counts alone. */
  readonly redis?: SharedRedis | undefined;
  readonly log?: Log;
}

/**
 * The age up to which an operation may join a call, in milliseconds. Its deadline may be this much later than that of
 * the first operation.
 */
const joinedMs = 1000;

/** The time allowed for messages between processes, in milliseconds. */
const toleranceMs = 500;

/** The local limit while Redis decides: there is none. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** The calls that may wait for each call that may be in flight. */
const queueFactor = 4;

/** Makes the budget of calls. This process counts them by itself, or all gateways count them together in Redis. */
export function createCallBudget(options: BudgetOptions): CallBudget {
  const { settings, operationDeadlineMs, maxInFlight, redis } = options;
  const now = (): number => performance.now();
  const longestCallMs = operationDeadlineMs + joinedMs + toleranceMs;
  const local = { ...settings, longestCallMs, now, nextId: createIds(randomBytes(9).toString('base64url')) };
  const common = { ...settings, now, mostWaiting: maxInFlight * queueFactor };
  if (redis === undefined) return new BudgetScheduler({ ...common, ledger: new LocalLedger(local) });
  const { ledger, counts } = shareLedger(local, { ...options, redis });
  const shared = new BudgetScheduler({
    ...common,
    ledger,
    counting: () => counts.state,
    close: () => counts.close(),
  });
  counts.onSwitch = () => shared.askAgain();
  return shared;
}

function shareLedger(
  options: LocalLedgerOptions,
  { settings, redis, upstreamUrl, log = () => undefined }: BudgetOptions & { readonly redis: SharedRedis },
): { readonly ledger: Ledger; readonly counts: RedisCounts } {
  const { now, longestCallMs } = options;
  const { windows, replicas } = settings;
  const counts = new RedisCounts({
    ...{ redis, upstreamUrl, longestCallMs, replicas, now, log },
    longestWindowMs: Math.max(...Object.values(windows).flatMap((all) => all.map(({ ms }) => ms))),
    hasShare: (subject) => percentOf(settings, subject) < 100,
    calls: () => local.calls(),
  });
  const limitsOf: LocalLedgerOptions['limitsOf'] = (surface) =>
    (windows[surface] ?? []).map(({ limit }) => (counts.isUp ? unlimited : Math.max(1, Math.floor(limit / replicas))));
  const local = new LocalLedger({ ...options, limitsOf });
  return { ledger: new SharedLedger({ ...settings, local, redis: counts }), counts };
}

/** Makes ids that no other process makes. */
function createIds(prefix: string): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}${last}`;
  };
}
