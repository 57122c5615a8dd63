import { isDeepStrictEqual } from 'node:util';
import { latePackage } from '../late-packages.ts';
import { mostTenants, otherTenants } from '../rest/call-counts.ts';
import { mostDriftSeries, otherDrift } from '../rest/drift/drift-watch.ts';
import { mostClients, otherClient } from '../telemetry/client-usage.ts';
import type { Measured } from '../telemetry/instruments.ts';
import type { Snapshot } from '../telemetry/metrics.ts';

/** The metrics of all processes as one text. `retired` holds the lasting metrics of ended workers. */
export function totalsOf(snapshots: readonly Snapshot[], retired: Snapshot): Promise<string> {
  const parts = snapshots.map((snapshot) => snapshot.filter(({ name }) => name !== unusedDocuments));
  const bounded = foldSeries([retired, ...parts]);
  return latePackage('prom-client')
    .AggregatorRegistry.aggregate([...bounded, [unusedIn(snapshots)]])
    .metrics();
}

/**
 * The metrics of ended workers that must last, so that sums never decrease: counters and histograms. Zeros are dropped,
 * because they may belong to documents that are no longer listed.
 */
export function retire(retired: Snapshot, last: Snapshot): Promise<Snapshot> {
  const lasting = last
    .filter(({ type }) => type === 'counter' || type === 'histogram')
    .map((metric) => ({ ...metric, values: metric.values.filter(({ value }) => value !== 0) }));
  return latePackage('prom-client')
    .AggregatorRegistry.aggregate(foldSeries([retired, lasting]))
    .getMetricsAsJSON();
}

/** The bound of a metric: the first series count separately, and all further ones as `other`. */
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

/** Applies the bounds to all workers together: each worker has chosen its own first series. */
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

/** The number of documents that no worker has been asked for. A sum over workers cannot show it. */
function unusedIn(snapshots: readonly Snapshot[]): Measured {
  const hits = new Map<unknown, number>();
  for (const { name, values } of snapshots.flat()) {
    if (name !== 'gateway_document_hits_total') continue;
    for (const { value, labels } of values) hits.set(labels['document'], (hits.get(labels['document']) ?? 0) + value);
  }
  const value = [...hits.values()].filter((count) => count === 0).length;
  const help = 'Listed documents that no client has asked for.';
  return { name: unusedDocuments, help, type: 'gauge', aggregator: 'sum', values: [{ value, labels: {} }] };
}
