import type { AuthResult } from '../auth/authenticator.ts';
import type { Reloads } from '../follow.ts';
import type { PersistedCounts } from '../operation/persisted/persisted.ts';
import type { SharedRedis } from '../redis.ts';
import { mostTenants, otherTenants } from '../rest/call-counts.ts';
import { mostDriftSeries, otherDrift } from '../rest/drift/drift-watch.ts';
import type { Ledger } from '../rest/ledger.ts';
import type { HeldKeys } from '../rest/tenant-client.ts';
import { packageVersion } from '../version.ts';
import { ClientUsage, type Usage } from './client-usage.ts';
import { byLabel, Instruments, type Measured, type Sample } from './instruments.ts';
import { createOperationMetrics, type OperationMetrics } from './operation-metrics.ts';
import { type CountRefused, countRefusedRequests } from './refused-requests.ts';
import {
  type LimitSources,
  measureCounting,
  measureLimits,
  measureRestCalls,
  measureSavedCalls,
  type Savers,
} from './rest-metrics.ts';

/** The sources of counters that are kept outside the metrics. */
export interface MetricsSources extends Savers, LimitSources {
  readonly documents: PersistedCounts;
  readonly heldKeys: Pick<HeldKeys, 'rejectedCalls' | 'stoppedCalls'>;
  readonly shared: { readonly joined: number; readonly savedCalls: number };
  readonly redis: SharedRedis | undefined;
  /** The counts of authentications; undefined if callers send their own keys. */
  readonly authentications?: ReadonlyMap<AuthResult, number> | undefined;
  /** The times at which certificates expire, in seconds since 1970, by the settings that name them. */
  readonly expiries?: (() => ReadonlyMap<string, number>) | undefined;
  readonly reloads: ReloadsByKind;
}

/** The counts of attempts to read files or keys again, by kind. A kind that is never read again has none. */
type ReloadsByKind = Readonly<
  Partial<Record<'certificates' | 'documents' | 'keys' | 'tenants', Readonly<Reloads> | undefined>>
>;

/**
 * Metrics in the Prometheus text format. No label holds a key or the id of an object. The only texts of clients in
 * labels are the name and version of the client, and the names of listed operations.
 */
export interface Metrics extends OperationMetrics {
  readonly countRefused: CountRefused;
  readonly contentType: string;
  readonly render: () => Promise<string>;
  /** Adds a counter of the uses of tools by agents. The function that it returns counts one use. */
  readonly measureTools: () => (tool: string, result: string) => void;
  readonly measureStreams: (live: StreamsMeasured) => void;
  /** The metrics as data, which can be added to those of other processes. */
  readonly snapshot: () => Promise<Snapshot>;
  readonly usage: () => Promise<Usage>;
}

export type Snapshot = readonly Measured[];

/** Makes the metrics of a gateway. `maxUpstreamCalls` is the most REST calls that one operation may make. */
export function createMetrics(sources: MetricsSources, maxUpstreamCalls: number): Metrics {
  const { resources, documents, shared, redis, authentications, expiries, reloads } = sources;
  const instruments = new Instruments({ hasProcess: true });
  const usage = new ClientUsage(() => resources.counts.byOutcome.reduce((sum, { count }) => sum + count, 0));
  const operations = createOperationMetrics(instruments, usage, maxUpstreamCalls);
  instruments.counter(
    'gateway_shared_operations_total',
    'Operations that were answered together with an equal operation under way.',
    () => shared.joined,
  );
  measureRestCalls(instruments, resources);
  measureLimits(instruments, sources);
  measureSavedCalls(instruments, sources);
  instruments.counter(
    'gateway_upstream_drift_total',
    'Sampled answers of the upstream that differ from the OpenAPI document, by route, column and kind.',
    () => (resources.drift?.counts ?? []).map(({ count, ...series }) => [series, count]),
    { most: mostDriftSeries, others: otherDrift },
  );
  measureDocuments(instruments, documents);
  if (redis !== undefined) measureRedis(instruments, redis);
  measureReloads(instruments, reloads);
  if (authentications !== undefined) measureAuth(instruments, authentications, sources);
  instruments.gauge(
    'gateway_certificate_expiry_timestamp_seconds',
    'Time at which the first certificate of a file expires, in seconds since 1970, by the setting that names the file.',
    () => byLabel('setting', expiries?.() ?? new Map()),
    // While only some workers have read a changed file, the earliest date counts.
    'min',
  );
  const labels = { version: packageVersion(), node: process.versions.node };
  const help = 'Always 1; its labels are the versions of the gateway and of Node.';
  // All workers run the same program.
  instruments.gauge('gateway_build_info', help, () => [[labels, 1]], 'first');
  return {
    ...operations,
    usage: () => Promise.resolve(usage.all()),
    countRefused: countRefusedRequests(instruments),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    measureTools: () =>
      instruments.series('gateway_mcp_calls_total', 'Uses of tools by agents, by tool and result.', ['tool', 'result']),
    measureStreams: (live) => measureStreams(instruments, live),
    render: async () => instruments.registry().metrics(),
    snapshot: async () => instruments.registry().getMetricsAsJSON(),
  };
}

interface StreamsMeasured {
  readonly streams: { readonly size: number; readonly messages: number };
  readonly tails: { readonly polls: number };
}

function measureStreams(instruments: Instruments, { streams, tails }: StreamsMeasured): void {
  instruments.gauge('gateway_streams', 'Streams of subscriptions that are open.', () => streams.size);
  instruments.counter(
    'gateway_stream_messages_total',
    'Messages that subscriptions have sent.',
    () => streams.messages,
  );
  instruments.counter(
    'gateway_stream_polls_total',
    'Reads of new events from the upstream. Streams of the same events with the same key share them.',
    () => tails.polls,
  );
}

/**
 * The labels of authentications. They are written out here, so that a result can be renamed without a change of the
 * metric.
 */
const authLabels: Readonly<Record<AuthResult, string>> = {
  accepted: 'accepted',
  'no token': 'no_token',
  'invalid token': 'invalid_token',
  'unknown tenant': 'unknown_tenant',
  'no role': 'no_role',
  unavailable: 'unavailable',
};

function measureAuth(
  instruments: Instruments,
  authentications: ReadonlyMap<AuthResult, number>,
  { resources: { counts }, heldKeys }: MetricsSources,
): void {
  instruments.counter(
    'gateway_tenant_rest_calls_total',
    'REST calls sent, by tenant.',
    () => byLabel('tenant', counts.byTenant),
    { most: mostTenants, others: { tenant: otherTenants } },
  );
  instruments.counter('gateway_authentications_total', 'Requests, by the result of the check of their token.', () =>
    [...authentications].map(([result, count]) => [{ result: authLabels[result] }, count]),
  );
  instruments.counter(
    'gateway_held_key_refusals_total',
    'REST calls for which the upstream rejected a key that the gateway holds.',
    () => heldKeys.rejectedCalls,
  );
  instruments.counter(
    'gateway_reach_faults_total',
    'REST calls that were stopped because they would have left the reach of their tenant.',
    () => heldKeys.stoppedCalls,
  );
}

/**
 * The metric of unused documents. Its values cannot be summed over processes, because all processes have the same
 * documents.
 */
export const unusedDocuments = {
  name: 'gateway_documents_unused',
  help: 'Listed documents that no client has asked for.',
} as const;

function measureDocuments(instruments: Instruments, documents: PersistedCounts): void {
  const perDocument = (name: string, help: string, count: 'hits' | 'errors' | 'restCalls'): void =>
    instruments.counter(name, help, () => documents.all().map((use) => [{ document: use.id }, use[count]]));
  perDocument('gateway_document_hits_total', 'Operations of a listed document.', 'hits');
  perDocument('gateway_document_errors_total', 'Answers with errors of a listed document.', 'errors');
  perDocument('gateway_document_rest_calls_total', 'REST calls of a listed document.', 'restCalls');
  instruments.gauge(
    unusedDocuments.name,
    unusedDocuments.help,
    () => documents.all().filter(({ hits }) => hits === 0).length,
  );
  const { automatic } = documents;
  instruments.counter('gateway_automatic_documents_total', 'Automatic persisted queries, by result.', () => [
    [{ result: 'hits' }, automatic.hits],
    [{ result: 'misses' }, automatic.misses],
    [{ result: 'registrations' }, automatic.registrations],
  ]);
}

function measureRedis(instruments: Instruments, redis: SharedRedis): void {
  instruments.counter('gateway_redis_failures_total', 'Commands that Redis refused or did not answer in time.', () =>
    byLabel('command', redis.failures),
  );
  instruments.gauge('gateway_redis_up', '1 if Redis can be asked, else 0.', () => (redis.isUp ? 1 : 0), 'min');
}

export interface PrimarySources {
  readonly counting: Ledger['counting'];
  readonly redis: SharedRedis | undefined;
  /** The counts of attempts to read the keys of tenants again; undefined if the gateway holds no keys. */
  readonly reloads: Readonly<Reloads> | undefined;
  /** The number of workers that serve now, and the number of workers started in place of one that ended. */
  readonly workers: () => { readonly running: number; readonly restarts: number };
}

/** Makes the metrics of the first of several processes, as data to be added to the metrics of the workers. */
export function createPrimaryMetrics({ counting, redis, reloads, workers }: PrimarySources): () => Promise<Snapshot> {
  const instruments = new Instruments({ hasProcess: false });
  measureCounting(instruments, counting);
  if (counting !== undefined && redis !== undefined) measureRedis(instruments, redis);
  if (reloads !== undefined) measureReloads(instruments, { tenants: reloads });
  instruments.gauge('gateway_workers', 'Workers that serve now.', () => workers().running);
  const restarts = 'Workers started in place of one that ended.';
  instruments.counter('gateway_worker_restarts_total', restarts, () => workers().restarts);
  return () => instruments.registry().getMetricsAsJSON();
}

function measureReloads(instruments: Instruments, all: ReloadsByKind): void {
  const help = 'Attempts to read changed files or keys again, by what was read and by result.';
  instruments.counter('gateway_reloads_total', help, () =>
    Object.entries(all).flatMap(([what, reloads]: [string, Readonly<Reloads> | undefined]): Sample[] =>
      Object.entries(reloads ?? {}).map(([result, count]) => [{ what, result }, count]),
    ),
  );
}
