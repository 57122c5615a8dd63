import { type Aggregator, Counter, Gauge, type Registry } from 'prom-client';

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
