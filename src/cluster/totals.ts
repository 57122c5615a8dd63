import { isDeepStrictEqual } from 'node:util';
import { latePackage } from '../late-packages.ts';
import type { Bound, Measured } from '../telemetry/instruments.ts';
import { type Snapshot, unusedDocuments } from '../telemetry/metrics.ts';

/** The metrics of all processes as one text. `ended` holds the lasting metrics of ended workers. */
export function totalsOf(snapshots: readonly Snapshot[], ended: Snapshot): Promise<string> {
  const kept = snapshots.map((snapshot) => snapshot.filter(({ name }) => name !== unusedDocuments.name));
  const bounded = foldSeries([ended, ...kept]);
  return latePackage('prom-client')
    .AggregatorRegistry.aggregate([...bounded, [unusedIn([ended, ...snapshots])]])
    .metrics();
}

/**
 * Adds the last metrics of an ended worker to the metrics of workers that ended earlier. Only counters and histograms
 * are kept, so that sums never decrease. Zeros are dropped, because they may belong to documents that are no longer
 * listed.
 */
export function addEnded(ended: Snapshot, last: Snapshot): Promise<Snapshot> {
  const lasting = last
    .filter(({ type }) => type === 'counter' || type === 'histogram')
    .map((metric) => ({ ...metric, values: metric.values.filter(({ value }) => value !== 0) }));
  return latePackage('prom-client')
    .AggregatorRegistry.aggregate(foldSeries([ended, lasting]))
    .getMetricsAsJSON();
}

/**
 * Applies the bound on each metric's series to all processes together. Each worker keeps to that bound, but different
 * workers may count different series separately.
 */
function foldSeries(snapshots: readonly Snapshot[]): Snapshot[] {
  const bounded = new Map<string, Bound & { readonly series: Set<string> }>();
  for (const { name, bound } of snapshots.flat())
    if (bound !== undefined && !bounded.has(name)) bounded.set(name, { ...bound, series: new Set() });
  return snapshots.map((snapshot) =>
    snapshot.map((metric) => {
      const found = bounded.get(metric.name);
      if (found === undefined) return metric;
      const { most, others, series } = found;
      const labelsOf = (labels: Labels): Labels => {
        const name = JSON.stringify(labels);
        const further = { ...labels, ...others };
        if (series.has(name) || isDeepStrictEqual(labels, further)) return labels;
        if (series.size >= most) return further;
        series.add(name);
        return labels;
      };
      return { ...metric, values: metric.values.map((one) => ({ ...one, labels: labelsOf(one.labels) })) };
    }),
  );
}

type Labels = Measured['values'][number]['labels'];

/** The number of documents that no worker, running or ended, was asked for. A sum over workers cannot show it. */
function unusedIn(snapshots: readonly Snapshot[]): Measured {
  const hits = new Map<unknown, number>();
  for (const { name, values } of snapshots.flat()) {
    if (name !== 'gateway_document_hits_total') continue;
    for (const { value, labels } of values) hits.set(labels['document'], (hits.get(labels['document']) ?? 0) + value);
  }
  const value = [...hits.values()].filter((count) => count === 0).length;
  return { ...unusedDocuments, type: 'gauge', aggregator: 'sum', values: [{ value, labels: {} }] };
}
