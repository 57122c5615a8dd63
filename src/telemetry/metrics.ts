import type { Aggregator } from 'prom-client';
import type { AuthResult } from '../auth/authenticator.ts';
import type { Reloads } from '../follow-files.ts';
import { latePackage } from '../late-packages.ts';
import type { DocumentUses } from '../operation/persisted/persisted.ts';
import type { SharedRedis } from '../redis.ts';
import type { CallBudget } from '../rest/budget/call-budget.ts';
import type { CountingState } from '../rest/budget/redis-counts.ts';
import type { DriftWatch } from '../rest/drift/drift-watch.ts';
import type { UpstreamHealth } from '../rest/resilience/upstream-resources.ts';
import type { HeldKeyFaults } from '../rest/tenant-client.ts';
import { packageVersion } from '../version.ts';
import { ClientUsage, type Usage } from './client-usage.ts';
import { Instruments } from './instruments.ts';
import { createOperationMetrics, measureClients, type OperationMetrics } from './operation-metrics.ts';
import { type CountRefused, countRefusedRequests } from './refused-requests.ts';
import { measureRestCalls, measureSavedCalls, type Savers } from './rest-metrics.ts';

/** The sources of counters that are kept outside the metrics. */
export interface MetricsSources extends Savers {
  readonly upstream: () => UpstreamHealth;
  readonly documents: DocumentUses;
  readonly shared: { readonly joined: number; readonly savedCalls: number };
  readonly drift: DriftWatch;
  readonly redis: SharedRedis | undefined;
  readonly budget: CallBudget | undefined;
}

interface MetricsSettings {
  readonly maxUpstreamCalls: number;
}

/** Metrics in the Prometheus text format. No label holds a key, the id of an object, or a client's text. */
export interface Metrics extends OperationMetrics {
  /** Counts a request that was refused before there was an operation. */
  readonly refused: CountRefused;
  readonly contentType: string;
  readonly render: () => Promise<string>;
  /** Adds counters of the results of authentication, and of failures to read the keys that the gateway holds. */
  readonly measureAuth: (results: ReadonlyMap<AuthResult, number>, held: HeldKeysMeasured) => void;
  /** Counts the results of attempts to read something again; undefined if it is never read again. */
  readonly measureReloads: (what: Reloadable, reloads: Readonly<Reloads> | undefined) => void;
  /** Reports when certificates expire, in seconds since 1970, by the settings that name them. */
  readonly measureCertificates: (expiries: () => ReadonlyMap<string, number>) => void;
  /** Adds a counter of the uses of tools by agents. The function that it returns counts one use. */
  readonly measureTools: () => (tool: string, result: string) => void;
  readonly measureStreams: (live: StreamsMeasured) => void;
  /** The metrics as data, which can be added to those of other processes. */
  readonly snapshot: () => Promise<Snapshot>;
  readonly usage: () => Promise<Usage>;
}

/** Metrics as data. */
export type Snapshot = readonly Measured[];

/** One metric as data. */
export interface Measured {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  /** The way in which values of several processes are combined. */
  readonly aggregator: Aggregator;
  readonly values: readonly { readonly value: number; readonly labels: Readonly<Record<string, unknown>> }[];
}

/** Makes the metrics of one gateway. */
export function createMetrics(sources: MetricsSources, { maxUpstreamCalls }: MetricsSettings): Metrics {
  const { upstream, documents, shared, drift, redis, budget } = sources;
  const instruments = new Instruments();
  const operations = createOperationMetrics(instruments, maxUpstreamCalls);
  const usage = new ClientUsage(() => upstream().calls.reduce((sum, { count }) => sum + count, 0));
  measureClients(instruments, usage);
  instruments.total(
    'gateway_shared_operations_total',
    'Operations answered by an equal one under way.',
    () => shared.joined,
  );
  measureRestCalls(instruments, upstream);
  measureSavedCalls(instruments, sources);
  instruments.counter(
    'gateway_upstream_drift_total',
    'Answers of the upstream that differ from the OpenAPI document, of a sample, by route, column and kind.',
    ['route', 'column', 'kind'],
    () => drift.counts.map(({ count, ...series }) => [series, count]),
  );
  measureDocuments(instruments, documents);
  if (redis !== undefined) measureRedis(instruments, redis);
  const counting = budget?.counting;
  if (counting !== undefined) measureCounting(instruments, counting);
  const reloads = new Map<Reloadable, Readonly<Reloads>>();
  measureReloads(instruments, reloads);
  measureBuild(instruments);
  instruments.add((register) => latePackage('prom-client').collectDefaultMetrics({ register }));
  return {
    ...operations,
    end: (operation) => {
      operations.end(operation);
      usage.add(operation);
    },
    close: (operation) => {
      operations.close(operation);
      usage.add(operation);
    },
    usage: () => Promise.resolve(usage.all()),
    refused: countRefusedRequests(instruments),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    measureAuth: (results, held) => measureAuth(instruments, results, held),
    measureReloads: (what, counts) => void (counts && reloads.set(what, counts)),
    measureCertificates: (expiries) => measureCertificates(instruments, expiries),
    measureTools: () => measureTools(instruments),
    measureStreams: (live) => measureStreams(instruments, live),
    render: () => instruments.read().metrics(),
    snapshot: () => instruments.read().getMetricsAsJSON(),
  };
}

interface StreamsMeasured {
  readonly streams: { readonly size: number; readonly messages: number };
  readonly tails: { readonly polls: number };
}

function measureStreams(instruments: Instruments, { streams, tails }: StreamsMeasured): void {
  instruments.gauge('gateway_streams', 'Streams of subscriptions that are open.', () => streams.size);
  instruments.total('gateway_stream_messages_total', 'Messages that subscriptions have sent.', () => streams.messages);
  instruments.total(
    'gateway_stream_polls_total',
    'Times that the upstream was asked what is new, each for all who follow the same with the same key.',
    () => tails.polls,
  );
}

function measureCertificates(instruments: Instruments, expiries: () => ReadonlyMap<string, number>): void {
  instruments.gauges(
    'gateway_certificate_expiry_timestamp_seconds',
    'When the first certificate of a file expires, in seconds since 1970, by the setting that names the file.',
    'setting',
    // A worker may not have read the changed file yet.
    'min',
    expiries,
  );
}

interface HeldKeysMeasured {
  readonly heldKeyFaults: HeldKeyFaults;
  readonly callsByTenant: ReadonlyMap<string, number>;
}

/** The label of every result of authentication. */
const authLabels = {
  accepted: 'accepted',
  'no token': 'no_token',
  'invalid token': 'invalid_token',
  'unknown tenant': 'unknown_tenant',
  'no role': 'no_role',
  unavailable: 'unavailable',
} as const satisfies Record<AuthResult, string>;

function measureAuth(
  instruments: Instruments,
  results: ReadonlyMap<AuthResult, number>,
  { heldKeyFaults: faults, callsByTenant }: HeldKeysMeasured,
): void {
  instruments.counters('gateway_tenant_rest_calls_total', 'REST calls sent, by tenant.', 'tenant', () => callsByTenant);
  instruments.counter('gateway_authentications_total', 'Requests, by what became of their token.', ['result'], () =>
    [...results].map(([result, count]) => [{ result: authLabels[result] }, count]),
  );
  instruments.total(
    'gateway_held_key_refusals_total',
    'REST calls for which the upstream did not take a key that the gateway holds.',
    () => faults.refusedKeys,
  );
  instruments.total(
    'gateway_reach_faults_total',
    'REST calls that were stopped because they would have left the reach of their tenant.',
    () => faults.stoppedCalls,
  );
}

function measureDocuments(instruments: Instruments, documents: DocumentUses): void {
  const perDocument = (
    name: string,
    help: string,
    read: (use: { hits: number; errors: number; restCalls: number }) => number,
  ): void =>
    instruments.counter(name, help, ['document'], () =>
      documents.all().map((use) => [{ document: use.id }, read(use)]),
    );
  perDocument('gateway_document_hits_total', 'Operations of a listed document.', ({ hits }) => hits);
  perDocument('gateway_document_errors_total', 'Answers with errors of a listed document.', ({ errors }) => errors);
  perDocument('gateway_document_rest_calls_total', 'REST calls of a listed document.', ({ restCalls }) => restCalls);
  instruments.gauge(
    'gateway_documents_unused',
    'Listed documents that no client has asked for.',
    () => documents.all().filter(({ hits }) => hits === 0).length,
  );
  instruments.counter(
    'gateway_automatic_documents_total',
    'Automatic persisted queries, by what became of them.',
    ['result'],
    () => Object.entries(documents.automatic).map(([result, value]: [string, number]) => [{ result }, value]),
  );
}

function measureRedis(instruments: Instruments, redis: SharedRedis): void {
  instruments.counters(
    'gateway_redis_failures_total',
    'Commands that Redis refused or did not answer in time.',
    'command',
    () => redis.failures,
  );
  instruments.gauge('gateway_redis_up', '1 if Redis can be asked, else 0.', () => (redis.isUp ? 1 : 0), 'min');
}

function measureCounting(instruments: Instruments, counting: () => CountingState): void {
  instruments.gauges(
    'gateway_budget_mode',
    '1 for what decides on calls: redis for all gateways, or local for the part of this one.',
    'mode',
    'sum',
    () => modesOf(counting()),
  );
  instruments.total(
    'gateway_budget_lost_calls_total',
    'Counted calls that Redis lost and got again.',
    () => counting().lostCalls,
  );
}

function modesOf({ mode }: CountingState): ReadonlyMap<string, number> {
  return new Map(['redis', 'local'].map((one) => [one, one === mode ? 1 : 0]));
}

/** The sources of the metrics that only the first of several processes has. */
export interface PrimarySources {
  readonly counting: CallBudget['counting'];
  readonly redis: SharedRedis | undefined;
  /** The attempts to read the keys of tenants again, if the gateway holds keys. */
  readonly reloads: Readonly<Reloads> | undefined;
  /** The workers that serve now, and the number of those that were started in place of one that ended. */
  readonly workers: () => { readonly running: number; readonly restarts: number };
}

/** Makes the metrics of the first of several processes, as data that is added to those of the workers. */
export function createPrimaryMetrics({ counting, redis, reloads, workers }: PrimarySources): () => Promise<Snapshot> {
  const instruments = new Instruments();
  if (counting !== undefined) measureCounting(instruments, counting);
  if (counting !== undefined && redis !== undefined) measureRedis(instruments, redis);
  if (reloads !== undefined) measureReloads(instruments, new Map([['tenants', reloads]]));
  instruments.gauge('gateway_workers', 'Workers that serve now.', () => workers().running);
  const restarts = 'Workers started in place of one that ended.';
  instruments.total('gateway_worker_restarts_total', restarts, () => workers().restarts);
  return () => instruments.read().getMetricsAsJSON();
}

/** The kinds of files and keys that are read again while the gateway runs. */
type Reloadable = 'certificates' | 'documents' | 'keys' | 'tenants';

function measureReloads(instruments: Instruments, all: ReadonlyMap<Reloadable, Readonly<Reloads>>): void {
  const help = 'Attempts to read again what changes while the gateway runs, by what it is and what became of it.';
  instruments.counter('gateway_reloads_total', help, ['what', 'result'], () =>
    [...all].flatMap(([what, { ok, failed }]): [Record<'what' | 'result', string>, number][] => [
      [{ what, result: 'ok' }, ok],
      [{ what, result: 'failed' }, failed],
    ]),
  );
}

/** Adds a metric about the build of the gateway. Its value is always 1; its labels hold the facts. */
function measureBuild(instruments: Instruments): void {
  const labels = { version: packageVersion(), node: process.versions.node };
  const help = 'Always 1; its labels are the versions of the gateway and of Node.';
  // All workers run the same program.
  instruments.labelledGauge('gateway_build_info', help, Object.keys(labels), 'first', () => [[labels, 1]]);
}

/** The most series of uses of tools. Manifests have fewer tools, even if they are read again many times. */
const mostSeries = 10_000;

/** Makes the metric of uses of tools. The function that it returns counts one use. */
function measureTools(instruments: Instruments): (tool: string, result: string) => void {
  const series = new Map<string, { readonly tool: string; readonly result: string; count: number }>();
  instruments.counter(
    'gateway_mcp_calls_total',
    'Uses of tools by agents, by tool and by what became of them.',
    ['tool', 'result'],
    () => [...series.values()].map(({ tool, result, count }) => [{ tool, result }, count]),
  );
  return (tool, result) => {
    const name = `${tool} ${result}`;
    const known = series.get(name);
    if (known !== undefined) known.count += 1;
    else if (series.size < mostSeries) series.set(name, { tool, result, count: 1 });
  };
}
