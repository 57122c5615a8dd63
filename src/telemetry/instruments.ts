import type { Aggregator, Registry } from 'prom-client';
import { latePackage } from '../late-packages.ts';
import type { Distribution } from '../tally.ts';

/** The metrics of one gateway. prom-client is loaded when the metrics are first read, and its objects are made then. */
export class Instruments {
  readonly #waiting: ((registry: Registry) => void)[] = [];
  #registry: Registry | undefined;

  /** Adds a metric. `make` makes it when the metrics are first read. */
  add(make: (registry: Registry) => void): void {
    this.#waiting.push(make);
  }

  read(): Registry {
    this.#registry ??= new (latePackage('prom-client').Registry)();
    for (const make of this.#waiting.splice(0)) make(this.#registry);
    return this.#registry;
  }

  /** Adds a counter whose values are kept elsewhere. `read` is called when the metrics are requested. */
  counter<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    read: () => [Partial<Record<L, string>>, number][],
  ): void {
    this.add((registry) => {
      const { Counter } = latePackage('prom-client');
      const metric = new Counter({
        name,
        help,
        labelNames,
        registers: [registry],
        collect: () => {
          metric.reset();
          for (const [labels, value] of read()) metric.inc(labels, value);
        },
      });
    });
  }

  /** Adds a counter with one label, and a number for each value of the label. */
  counters(name: string, help: string, label: string, read: () => ReadonlyMap<string, number>): void {
    this.counter(name, help, [label], () => [...read()].map(([value, count]) => [{ [label]: value }, count]));
  }

  total(name: string, help: string, read: () => number): void {
    this.counter(name, help, [], () => [[{}, read()]]);
  }

  /** Adds a gauge without labels whose value is kept elsewhere. `read` is called when the metrics are requested. */
  gauge(name: string, help: string, read: () => number, aggregator: Aggregator = 'sum'): void {
    this.labelledGauge(name, help, [], aggregator, () => [[{}, read()]]);
  }

  /** Adds a gauge with one label, and a number for each value of the label. */
  gauges(
    name: string,
    help: string,
    label: string,
    aggregator: Aggregator,
    read: () => ReadonlyMap<string, number>,
  ): void {
    this.labelledGauge(name, help, [label], aggregator, () =>
      [...read()].map(([value, number]) => [{ [label]: value }, number]),
    );
  }

  labelledGauge(
    name: string,
    help: string,
    labelNames: string[],
    aggregator: Aggregator,
    read: () => [Record<string, string>, number][],
  ): void {
    this.add((registry) => {
      const { Gauge } = latePackage('prom-client');
      const metric = new Gauge({
        name,
        help,
        labelNames,
        registers: [registry],
        aggregator,
        collect: () => {
          metric.reset();
          for (const [labels, value] of read()) metric.set(labels, value);
        },
      });
    });
  }

  /**
   * Adds a histogram with at most one label. `read` returns its distributions by the value of the label; without a
   * label the value is ''.
   */
  histogram(
    name: string,
    help: string,
    label: string | undefined,
    bounds: readonly number[],
    read: () => ReadonlyMap<string, Distribution>,
  ): void {
    const labelNames = label === undefined ? [] : [label];
    const values = (): readonly Sample[] =>
      [...read()].flatMap(([value, distribution]) =>
        samplesOf(name, Object.fromEntries(labelNames.map((one) => [one, value])), bounds, distribution),
      );
    this.add((registry) => {
      const { Histogram } = latePackage('prom-client');
      const metric = new Histogram({ name, help, labelNames, registers: [] });
      // prom-client's own method makes an object and a text for each value, which counts kept elsewhere do not need.
      const getForPromString = (): Promise<unknown> =>
        Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: values() });
      registry.registerMetric(Object.assign(metric, { getForPromString }));
    });
  }
}

/** One line of a histogram, in the form that prom-client turns into text or data. */
interface Sample {
  readonly metricName: string;
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly labels: Record<string, string | number>;
  readonly value: number;
}

/** The lines for one value of the label: the buckets, each including all lower ones, then sum and count. */
function samplesOf(
  name: string,
  sharedLabels: Readonly<Record<string, string>>,
  bounds: readonly number[],
  { counts, sum }: Distribution,
): readonly Sample[] {
  let count = 0;
  const buckets = counts.map((own, index) => {
    count += own;
    return { metricName: `${name}_bucket`, sharedLabels, labels: { le: bounds[index] ?? '+Inf' }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, sharedLabels, labels: {}, value: sum },
    { metricName: `${name}_count`, sharedLabels, labels: {}, value: count },
  ];
}
