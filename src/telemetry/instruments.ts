import { type Aggregator, Counter, Gauge, Histogram, type HistogramConfiguration, type Registry } from 'prom-client';
import type { Distribution } from '../tally.ts';

/** A counter that is kept elsewhere and read when it is asked for. */
export function counter<L extends string>(
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

/** A gauge that is kept elsewhere and read when it is asked for. */
export function gauge(
  registers: Registry[],
  name: string,
  help: string,
  read: () => number,
  aggregator: Aggregator = 'sum',
): void {
  const metric: Gauge = new Gauge({ name, help, registers, aggregator, collect: () => metric.set(read()) });
}

/** The same with a value for each value of one label. */
export function gauges(
  registers: Registry[],
  name: string,
  help: string,
  label: string,
  aggregator: Aggregator,
  read: () => ReadonlyMap<string, number>,
): void {
  const metric: Gauge = new Gauge({
    name,
    help,
    labelNames: [label],
    registers,
    aggregator,
    collect: () => {
      metric.reset();
      for (const [value, number] of read()) metric.set({ [label]: value }, number);
    },
  });
}

/** A histogram with at most one label that is kept elsewhere and read when it is asked for; without a label its value is ''. */
export function histogram(
  registers: Registry[],
  name: string,
  help: string,
  label: string | undefined,
  bounds: readonly number[],
  read: () => ReadonlyMap<string, Distribution>,
): void {
  const labelNames = label === undefined ? [] : [label];
  const metric = new KeptHistogram({ name, help, labelNames, registers: [] }, () =>
    [...read()].flatMap(([value, distribution]) =>
      samplesOf(name, Object.fromEntries(labelNames.map((one) => [one, value])), bounds, distribution),
    ),
  );
  for (const register of registers) register.registerMetric(metric);
}

/** One line of a histogram, as prom-client keeps it until it is asked for text or data. */
interface Sample {
  readonly metricName: string;
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly labels: Record<string, string | number>;
  readonly value: number;
}

/** prom-client's own makes an object and a text for each value; this one asks for what others have counted. */
class KeptHistogram extends Histogram {
  readonly #described: { readonly name: string; readonly help: string };
  readonly #read: () => readonly Sample[];

  constructor(config: HistogramConfiguration<string>, read: () => readonly Sample[]) {
    super(config);
    this.#described = { name: config.name, help: config.help };
    this.#read = read;
  }

  /** Where prom-client takes text and data from; its declarations leave it out. */
  getForPromString(): Promise<unknown> {
    return Promise.resolve({ ...this.#described, type: 'histogram', aggregator: 'sum', values: this.#read() });
  }
}

/** The lines of one value of the label: each bucket with those below it, then sum and count. */
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
