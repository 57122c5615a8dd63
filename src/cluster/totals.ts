import { isDeepStrictEqual } from 'node:util';
import { AggregatorRegistry } from 'prom-client';
import { mostTenants, otherTenants } from '../rest/call-counts.ts';
import { mostDriftSeries, otherDrift } from '../rest/drift/drift-counts.ts';
import { mostClients, otherClient } from '../telemetry/client-usage.ts';
import type { Measured, Snapshot } from '../telemetry/metrics.ts';

/** What the primary knows of its workers. */
export interface WorkerCounts {
  readonly running: number;
  /** Since the start. */
  readonly restarts: number;
}

/** The metrics of all workers as one text; `retired` is what stays of those that have ended. */
export function totalsOf(snapshots: readonly Snapshot[], retired: Snapshot, workers: WorkerCounts): Promise<string> {
  const unused = gauge(unusedDocuments, 'Listed documents that no client has asked for.', unusedIn(snapshots));
  const parts = snapshots.map((snapshot) => snapshot.filter(({ name }) => name !== unusedDocuments));
  const bounded = foldSeries([retired, ...parts]);
  return AggregatorRegistry.aggregate([...bounded, [unused], workerMetrics(workers)]).metrics();
}

/**
 * What stays of workers that have ended, so that sums never go back: counters and histograms. Zeros do not stay: they may
 * be of documents that are no longer listed.
 */
export function retire(retired: Snapshot, last: Snapshot): Promise<Snapshot> {
  const lasting = last
    .filter(({ type }) => type === 'counter' || type === 'histogram')
    .map((metric) => ({ ...metric, values: metric.values.filter(({ value }) => value !== 0) }));
  return AggregatorRegistry.aggregate(foldSeries([retired, lasting])).getMetricsAsJSON();
}

/** A metric that counts the first series that it sees apart, and all beyond those as `other`. */
interface Bound {
  readonly most: number;
  readonly other: (labels: Labels) => Labels;
}

const boundedMetrics: ReadonlyMap<string, Bound> = new Map<string, Bound>([
  ['gateway_upstream_drift_total', { most: mostDriftSeries, other: () => otherDrift }],
  ['gateway_tenant_rest_calls_total', { most: mostTenants, other: () => ({ tenant: otherTenants }) }],
  // A client has two series, one for each result.
  ['gateway_client_operations_total', { most: 2 * mostClients, other: (labels) => ({ ...labels, ...otherClient }) }],
  [
    'gateway_deprecated_uses_total',
    { most: mostClients, other: (labels) => ({ ...labels, client: otherClient.client }) },
  ],
]);

/** Each worker has first series of its own; all workers together have no more than one. */
function foldSeries(snapshots: readonly Snapshot[]): Snapshot[] {
  const counted = new Map([...boundedMetrics.keys()].map((name) => [name, new Set<string>()]));
  return snapshots.map((snapshot) =>
    snapshot.map((metric) => {
      const bound = boundedMetrics.get(metric.name);
      const series = counted.get(metric.name);
      if (bound === undefined || series === undefined) return metric;
      const labelsOf = (labels: Labels): Labels => {
        const name = JSON.stringify(labels);
        if (series.has(name) || isDeepStrictEqual(labels, bound.other(labels))) return labels;
        if (series.size >= bound.most) return bound.other(labels);
        series.add(name);
        return labels;
      };
      return { ...metric, values: metric.values.map((one) => ({ ...one, labels: labelsOf(one.labels) })) };
    }),
  );
}

type Labels = Measured['values'][number]['labels'];

const unusedDocuments = 'gateway_documents_unused';

/** A document is unused if no worker has been asked for it, which no sum over workers shows. */
function unusedIn(snapshots: readonly Snapshot[]): number {
  const hits = new Map<unknown, number>();
  for (const { name, values } of snapshots.flat()) {
    if (name !== 'gateway_document_hits_total') continue;
    for (const { value, labels } of values) hits.set(labels['document'], (hits.get(labels['document']) ?? 0) + value);
  }
  return [...hits.values()].filter((count) => count === 0).length;
}

function workerMetrics({ running, restarts }: WorkerCounts): Snapshot {
  return [
    gauge('gateway_workers', 'Workers that serve now.', running),
    {
      ...gauge('gateway_worker_restarts_total', 'Workers started in place of one that ended.', restarts),
      type: 'counter',
    },
  ];
}

function gauge(name: string, help: string, value: number): Measured {
  return { name, help, type: 'gauge', aggregator: 'sum', values: [{ value, labels: {} }] };
}
