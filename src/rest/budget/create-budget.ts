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

/** What a budget is made of, beside its settings. */
export interface BudgetOptions {
  readonly settings: BudgetSettings;
  /** The total deadline of an operation, in milliseconds. */
  readonly operationDeadlineMs: number;
  /** Most calls in flight. */
  readonly maxInFlight: number;
  /** Budgets of several upstreams in one Redis are told apart by it. */
  readonly upstreamUrl: string;
  /** Where gateways count together; undefined: this one counts alone. */
  readonly redis?: SharedRedis | undefined;
  readonly log?: Log;
}

/** An operation may join a call that is up to a second old, and its deadline is later than that of the first. */
const joinedMs = 1000;

/** For what is on its way between processes, in milliseconds. */
const toleranceMs = 500;

/** A limit that holds nothing back: Redis does. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** So many calls may wait for each that may be in flight. */
const queueFactor = 4;

/** The budget of calls that one process counts for itself, or all gateways in Redis. */
export function createCallBudget(options: BudgetOptions): CallBudget {
  const { settings, operationDeadlineMs, maxInFlight, redis } = options;
  const now = (): number => performance.now();
  const gateway = randomBytes(9).toString('base64url');
  const longestCallMs = operationDeadlineMs + joinedMs + toleranceMs;
  const local = { ...settings, longestCallMs, now, nextId: createIds(gateway) };
  const common = { ...settings, now, mostWaiting: maxInFlight * queueFactor };
  if (redis === undefined) return new BudgetScheduler({ ...common, ledger: new LocalLedger(local) });
  const { ledger, counts } = shareLedger(local, gateway, { ...options, redis });
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
  gateway: string,
  { settings, redis, upstreamUrl, log = () => undefined }: BudgetOptions & { readonly redis: SharedRedis },
): { readonly ledger: Ledger; readonly counts: RedisCounts } {
  const { now, longestCallMs } = options;
  const { windows, replicas } = settings;
  const counts = new RedisCounts({
    ...{ redis, upstreamUrl, gateway, longestCallMs, replicas, now, log },
    longestWindowMs: Math.max(...Object.values(windows).flatMap((all) => all.map(({ ms }) => ms))),
    hasShare: (subject) => percentOf(settings, subject) < 100,
    calls: () => local.calls(),
  });
  const limitsOf: LocalLedgerOptions['limitsOf'] = (surface) =>
    (windows[surface] ?? []).map(({ limit }) =>
      counts.isUp ? unlimited : Math.max(1, Math.floor(limit / counts.gateways)),
    );
  const local = new LocalLedger({ ...options, limitsOf });
  return { ledger: new SharedLedger({ ...settings, local, redis: counts }), counts };
}

/** Ids that no other process makes. */
function createIds(prefix: string): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}${last}`;
  };
}
