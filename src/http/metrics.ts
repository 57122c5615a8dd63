import { type Aggregator, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { UpstreamHealth } from '../rest/line.ts';
import type { DocumentUses } from './persisted/uses.ts';

/** Where counters that others keep are read from. */
export interface MetricsSources {
  readonly upstream: () => UpstreamHealth;
  readonly documents: DocumentUses;
  readonly runs: { readonly joined: number };
}

/** Metrics in the Prometheus text format. No label holds a key, an id of an object or a text of a client's. */
export interface Metrics {
  /** An operation began. */
  readonly begin: () => void;
  /** It was answered. `code` is that of its first error, `listed` its name where its document is listed. */
  readonly end: (durationMs: number, code: string | undefined, listed?: string) => void;
  /** An error that nobody expected. */
  readonly unexpected: () => void;
  readonly contentType: string;
  readonly render: () => Promise<string>;
  /** The same as data, which can be added to that of other processes. */
  readonly snapshot: () => Promise<Snapshot>;
}

/** Metrics as data. */
export type Snapshot = readonly Measured[];

/** One metric as data. */
export interface Measured {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  /** How values of several processes become one. */
  readonly aggregator: Aggregator;
  readonly values: readonly { readonly value: number; readonly labels: Readonly<Record<string, unknown>> }[];
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Makes the metrics of one gateway. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const outcomes = new Map<string, number>();
  const listedOutcomes = new Map<string, ListedOutcome>();
  const state = { running: 0, unexpected: 0 };
  const duration = new Histogram({
    name: 'gateway_operation_duration_seconds',
    help: 'Time from the parameters of an operation to its answer.',
    buckets: durationBuckets,
    registers,
  });
  counter(
    registers,
    'gateway_operations_total',
    'Operations answered, by the code of their first error.',
    ['code'],
    () => [...outcomes].map(([code, value]) => [{ code }, value]),
  );
  counter(
    registers,
    'gateway_listed_operations_total',
    'Operations of listed documents, by name and the code of their first error.',
    ['operation', 'code'],
    () => [...listedOutcomes.values()].map(({ operation, code, count }) => [{ operation, code }, count]),
  );
  counter(registers, 'gateway_unexpected_errors_total', 'Faults of the gateway itself.', [], () => [
    [{}, state.unexpected],
  ]);
  gauge(registers, 'gateway_operations_in_flight', 'Operations being answered.', () => state.running);
  measureOthers(registry, sources);
  return {
    begin: () => {
      state.running += 1;
    },
    end: (durationMs, code = 'none', listed) => {
      state.running -= 1;
      outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
      duration.observe(durationMs / 1000);
      if (listed !== undefined) countListed(listedOutcomes, listed, code);
    },
    unexpected: () => {
      state.unexpected += 1;
    },
    contentType: registry.contentType,
    render: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
  };
}

/** How often an operation of a listed document ended in one way. */
interface ListedOutcome {
  readonly operation: string;
  readonly code: string;
  count: number;
}

/** More names and codes than manifests have, even if they are read anew again and again. */
const mostListedOutcomes = 10_000;

function countListed(outcomes: Map<string, ListedOutcome>, operation: string, code: string): void {
  const name = `${operation} ${code}`;
  const known = outcomes.get(name);
  if (known !== undefined) known.count += 1;
  else if (outcomes.size < mostListedOutcomes) outcomes.set(name, { operation, code, count: 1 });
}

function measureOthers(registry: Registry, { upstream, documents, runs }: MetricsSources): void {
  counter([registry], 'gateway_shared_operations_total', 'Operations answered by an equal one under way.', [], () => [
    [{}, runs.joined],
  ]);
  measureUpstream([registry], upstream);
  measureDocuments([registry], documents);
  collectDefaultMetrics({ register: registry });
}

function measureUpstream(registers: Registry[], upstream: () => UpstreamHealth): void {
  counter(
    registers,
    'gateway_rest_calls_total',
    'REST calls sent, by method, route and HTTP status (or why there was none).',
    ['method', 'route', 'status'],
    () =>
      upstream().calls.map(({ method, route, outcome, count }) => [{ method, route, status: String(outcome) }, count]),
  );
  counter(registers, 'gateway_rest_retries_total', 'Reads sent a second time.', [], () => [[{}, upstream().retries]]);
  counter(registers, 'gateway_rest_sheds_total', 'REST calls refused for want of room or time.', [], () => [
    [{}, upstream().sheds],
  ]);
  counter(registers, 'gateway_rest_shared_reads_total', 'Reads answered by an equal one in flight.', [], () => [
    [{}, upstream().sharedReads],
  ]);
  gauge(registers, 'gateway_rest_calls_in_flight', 'REST calls under way.', () => upstream().inFlight);
  gauge(registers, 'gateway_rest_calls_queued', 'REST calls that wait for room.', () => upstream().queued);
  gauge(
    registers,
    'gateway_breaker_open',
    '1 while the circuit breaker of the upstream is open, 0.5 half open.',
    () => {
      const { state } = upstream();
      return state === 'open' ? 1 : state === 'closed' ? 0 : 0.5;
    },
    'max',
  );
}

function measureDocuments(registers: Registry[], documents: DocumentUses): void {
  const perDocument = (
    name: string,
    help: string,
    read: (use: { hits: number; errors: number; restCalls: number }) => number,
  ): void =>
    counter(registers, name, help, ['document'], () => documents.all().map((use) => [{ document: use.id }, read(use)]));
  perDocument('gateway_document_hits_total', 'Operations of a listed document.', ({ hits }) => hits);
  perDocument('gateway_document_errors_total', 'Answers with errors of a listed document.', ({ errors }) => errors);
  perDocument('gateway_document_rest_calls_total', 'REST calls of a listed document.', ({ restCalls }) => restCalls);
  gauge(
    registers,
    'gateway_documents_unused',
    'Listed documents that nobody has asked for.',
    () => documents.unused().length,
  );
  counter(
    registers,
    'gateway_automatic_documents_total',
    'Automatic persisted queries, by what became of them.',
    ['result'],
    () => Object.entries(documents.automatic).map(([result, value]: [string, number]) => [{ result }, value]),
  );
}

/** A counter that is kept elsewhere and read when it is asked for. */
function counter<L extends string>(
  registers: Registry[],
  name: string,
  help: string,
  labelNames: L[],
  read: () => [Partial<Record<L, string>>, number][],
): void {
  const metric = new Counter({
    name,
    help,
    labelNames,
    registers,
    collect: () => {
      metric.reset();
      for (const [labels, value] of read()) metric.inc(labels, value);
    },
  });
}

function gauge(
  registers: Registry[],
  name: string,
  help: string,
  read: () => number,
  aggregator: Aggregator = 'sum',
): void {
  const metric: Gauge = new Gauge({ name, help, registers, aggregator, collect: () => metric.set(read()) });
}
