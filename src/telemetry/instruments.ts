import type { Aggregator, Registry } from 'prom-client';
import { latePackage } from '../late-packages.ts';
import type { Distribution } from '../tally.ts';

type Labels = Readonly<Record<string, string | number>>;

export type Sample = readonly [labels: Labels, value: number];

export interface Measured {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  /** The way in which values of several processes are combined. */
  readonly aggregator: Aggregator;
  readonly bound?: Bound | undefined;
  readonly values: readonly { readonly value: number; readonly labels: Readonly<Record<string, unknown>> }[];
}

/** The bound of a metric: the first series count separately, and all further ones together. */
export interface Bound {
  readonly most: number;
  /** The labels of all further series. The other labels stay as they are. */
  readonly others: Labels;
}

/**
 * The maximum number of series of a counter whose labels are found at run time. Listed operations make fewer, even if
 * manifests change often.
 */
const mostSeries = 10_000;

/**
 * The metrics of one gateway. Their values are kept where they change, and read when the metrics are requested.
 * prom-client is loaded at the first request.
 */
export class Instruments {
  readonly #metrics: (Omit<Measured, 'values'> & { readonly read: () => Measured['values'] })[] = [];
  readonly #hasProcess: boolean;
  #registry: Registry | undefined;

  /** `hasProcess` is true if the metrics also include those of Node and of the process. */
  constructor({ hasProcess }: { readonly hasProcess: boolean }) {
    this.#hasProcess = hasProcess;
  }

  /** The metrics so far, as prom-client's registry, which makes text and data of them. */
  registry(): Registry {
    const { Gauge, Registry: PromRegistry, collectDefaultMetrics } = latePackage('prom-client');
    if (this.#registry === undefined) {
      this.#registry = new PromRegistry();
      if (this.#hasProcess) collectDefaultMetrics({ register: this.#registry });
    }
    for (const { read, ...metric } of this.#metrics.splice(0)) {
      const get = (): Promise<Measured> => Promise.resolve({ ...metric, values: read() });
      // prom-client would keep an object and a text for each value. Instead, `get` reads each value from its source.
      const { name, help } = metric;
      this.#registry.registerMetric(Object.assign(new Gauge({ name, help, registers: [] }), { get }));
    }
    return this.#registry;
  }

  /**
   * Adds a counter. `read` returns its samples, or its value if it has no labels. It returns no more samples than the
   * `bound` allows. The samples of several processes are bounded when they are summed.
   */
  counter(name: string, help: string, read: () => readonly Sample[] | number, bound?: Bound): void {
    this.#metrics.push({ name, help, type: 'counter', aggregator: 'sum', bound, read: () => valuesOf(read()) });
  }

  /** Adds a gauge. `aggregator` says how the values of several processes are combined. */
  gauge(name: string, help: string, read: () => readonly Sample[] | number, aggregator: Aggregator = 'sum'): void {
    this.#metrics.push({ name, help, type: 'gauge', aggregator, read: () => valuesOf(read()) });
  }

  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    read: () => readonly (readonly [labels: Labels, distribution: Distribution])[],
  ): void {
    const linesOf = (): Measured['values'] =>
      read().flatMap(([labels, distribution]) => histogramLines(name, labels, bounds, distribution));
    this.#metrics.push({ name, help, type: 'histogram', aggregator: 'sum', read: linesOf });
  }

  /** Adds a counter whose labels are found at run time. The function that it returns counts one. */
  series(name: string, help: string, [first, second]: readonly [string, string]): (one: string, other: string) => void {
    const series = new Map<string, { readonly labels: Labels; count: number }>();
    this.counter(name, help, () => [...series.values()].map(({ labels, count }) => [labels, count]));
    return (one, other) => {
      const key = `${one} ${other}`;
      const known = series.get(key);
      if (known !== undefined) known.count += 1;
      else if (series.size < mostSeries) series.set(key, { labels: { [first]: one, [second]: other }, count: 1 });
    };
  }
}

/** One sample for each value of a label, with the number for that value. */
export function byLabel(label: string, numbers: ReadonlyMap<string, number>): readonly Sample[] {
  return [...numbers].map(([value, number]) => [{ [label]: value }, number]);
}

function valuesOf(samples: readonly Sample[] | number): Measured['values'] {
  if (typeof samples === 'number') return [{ labels: {}, value: samples }];
  return samples.map(([labels, value]) => ({ labels, value }));
}

/** The lines of a histogram for one set of labels: the buckets, each including all lower ones, then sum and count. */
function histogramLines(
  name: string,
  labels: Labels,
  bounds: readonly number[],
  { counts, sum }: Distribution,
): readonly { readonly metricName: string; readonly labels: Labels; readonly value: number }[] {
  let count = 0;
  const buckets = counts.map((own, index) => {
    count += own;
    return { metricName: `${name}_bucket`, labels: { le: bounds[index] ?? '+Inf', ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
