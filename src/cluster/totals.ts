import { AggregatorRegistry } from 'prom-client';
import { mostDriftSeries, otherDrift } from '../rest/drift/drift-counts.ts';
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
  const drift = foldDrift([retired, ...parts]);
  return AggregatorRegistry.aggregate([...drift, [unused], workerMetrics(workers)]).metrics();
}

/**
 * What stays of workers that have ended, so that sums never go back: counters and histograms. Zeros do not stay: they may
 * be of documents that are no longer listed.
 */
export function retire(retired: Snapshot, last: Snapshot): Promise<Snapshot> {
  const lasting = last
    .filter(({ type }) => type === 'counter' || type === 'histogram')
    .map((metric) => ({ ...metric, values: metric.values.filter(({ value }) => value !== 0) }));
  return AggregatorRegistry.aggregate(foldDrift([retired, lasting])).getMetricsAsJSON();
}

/**
 * Each worker counts the first differences that it sees as series of their own; all workers together have no
 * more series than one.
 */
function foldDrift(snapshots: readonly Snapshot[]): Snapshot[] {
  const counted = new Set<string>();
  const labelsOf = (labels: Labels): Labels => {
    const name = JSON.stringify(labels);
    if (labels['route'] === otherDrift.route || counted.has(name)) return labels;
    if (counted.size >= mostDriftSeries) return otherDrift;
    counted.add(name);
    return labels;
  };
  return snapshots.map((snapshot) =>
    snapshot.map((metric) => {
      if (metric.name !== 'gateway_upstream_drift_total') return metric;
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
