import type { SavedCalls } from '../loaders/window-loader.ts';
import type { BudgetCounts } from '../rest/budget/budget-counts.ts';
import type { AnswerCache } from '../rest/cache/answer-cache.ts';
import { ageBounds } from '../rest/cache/cache-counts.ts';
import { durationBounds } from '../rest/call-counts.ts';
import type { Ledger } from '../rest/ledger.ts';
import type { UpstreamResources } from '../rest/resilience/upstream-resources.ts';
import { byLabel, type Instruments, type Sample } from './instruments.ts';

export function measureRestCalls(instruments: Instruments, resources: UpstreamResources): void {
  const { counts, reachability, retries, limiter, keys, reads, breakers } = resources;
  instruments.counter(
    'gateway_rest_calls_total',
    'REST calls sent, by method, route and HTTP status, or by the reason why there was none.',
    () =>
      counts.byOutcome.map(({ method, route, outcome, count }) => [{ method, route, status: String(outcome) }, count]),
  );
  instruments.histogram(
    'gateway_rest_call_duration_seconds',
    'Time from sending a REST call to its end, by route.',
    durationBounds,
    () => [...counts.durations].map(([route, durations]) => [{ route }, durations]),
  );
  instruments.counter(
    'gateway_upstream_failures_total',
    'REST calls without an answer of the API, by reason and by the place of the failure: upstream or proxy.',
    () => reachability.failures.map(({ reason, place, count }) => [{ reason, place }, count]),
  );
  instruments.counter('gateway_rest_retries_total', 'Reads sent a second time.', () => retries.sent);
  instruments.counter(
    'gateway_rest_sheds_total',
    'REST calls that the gateway refused, because too many were waiting or their time was over.',
    () => limiter.sheds + keys.sheds,
  );
  instruments.counter(
    'gateway_rest_shared_reads_total',
    'Reads that joined an equal read in flight.',
    () => reads.joined,
  );
  instruments.gauge('gateway_rest_calls_in_flight', 'REST calls under way.', () => limiter.inFlight);
  instruments.gauge(
    'gateway_rest_calls_queued',
    'REST calls that wait for their turn.',
    () => limiter.queued + keys.waiting,
  );
  instruments.gauge(
    'gateway_breaker_open',
    '1 while the circuit breaker of the upstream is open.',
    () => (breakers.isOpen ? 1 : 0),
    'max',
  );
}

/** The counts of refusals and waits, and the state of the counting. */
export interface LimitSources {
  readonly budgetCounts: BudgetCounts;
  readonly counting: Ledger['counting'];
}

export function measureLimits(instruments: Instruments, { budgetCounts, counting }: LimitSources): void {
  instruments.counter(
    'gateway_budget_refusals_total',
    'Operations and REST calls refused because a budget was spent, by surface.',
    () => byLabel('surface', budgetCounts.refusals),
  );
  instruments.counter('gateway_budget_waits_total', 'REST calls that waited for a budget, by surface.', () =>
    byLabel('surface', budgetCounts.waits),
  );
  instruments.gauge(
    'gateway_budget_left_ratio',
    'Smallest share of a window of the budget that was left in the last minute, by surface.',
    () => byLabel('surface', budgetCounts.leastLeft()),
    'min',
  );
  measureCounting(instruments, counting);
}

/** Measures how calls are counted, if this process counts them in a Redis. */
export function measureCounting(instruments: Instruments, counting: Ledger['counting']): void {
  if (counting === undefined) return;
  instruments.gauge(
    'gateway_budget_mode',
    '1 for the place where calls are counted: redis for all gateways together, or local for the part of this gateway.',
    () => ['redis', 'local'].map((mode) => [{ mode }, mode === counting().mode ? 1 : 0]),
  );
  instruments.counter(
    'gateway_budget_lost_calls_total',
    'Counted calls that Redis had lost and that were added again.',
    () => counting().lostCalls,
  );
}

export interface Savers {
  readonly resources: UpstreamResources;
  readonly shared: { readonly savedCalls: number };
  readonly saved: SavedCalls;
  readonly cache: AnswerCache | undefined;
}

/** Counts the REST calls that were saved, and measures what is kept to save them. */
export function measureSavedCalls(instruments: Instruments, { resources, shared, saved, cache }: Savers): void {
  instruments.counter(
    'gateway_rest_calls_saved_total',
    'REST calls that were saved, by what saved them. The true numbers may be higher.',
    () => [
      [{ by: 'loaders' }, saved.count],
      [{ by: 'shared_reads' }, resources.reads.joined],
      [{ by: 'shared_operations' }, shared.savedCalls],
      [{ by: 'cache' }, cache?.counts.answered ?? 0],
    ],
  );
  if (cache === undefined) return;
  instruments.counter('gateway_cache_reads_total', 'Reads of data that is cached, by noun and result.', () =>
    [...cache.counts.reads].flatMap(([noun, results]) =>
      Object.entries(results).map(([result, count]): Sample => [{ noun, result }, count]),
    ),
  );
  instruments.histogram(
    'gateway_cache_answer_age_seconds',
    'Age of the answers that the cache gave: the time since the upstream had sent them.',
    ageBounds,
    () => [[{}, cache.counts.ages]],
  );
  instruments.counter(
    'gateway_reused_operations_total',
    'Operations that were answered with the kept answer of an equal operation, because its reads were still fresh.',
    () => cache.whole.reused,
  );
  instruments.gauge('gateway_cache_bytes', 'Estimated memory of cached answers, in bytes.', () => cache.bytes);
}
