/** The measurements in bench/results.json: samples, and the machine that they were taken on. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { GatewayName } from '../gateways/table.ts';
import type { Series } from '../measure/points.ts';
import type { ScenarioName } from '../scenarios/names.ts';
import type { Machine } from './machine.ts';

/** One run of one gateway. */
export interface Sample {
  readonly round: number;
  readonly gateway: GatewayName;
  readonly series: Series;
  readonly scenario: ScenarioName;
  readonly size: number;
  /** CPU time of the gateway's processes for each operation, in microseconds. */
  readonly cpu: number;
  readonly operationsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** REST calls for each operation; fewer than one operation alone makes if operations share calls. */
  readonly calls: number;
  /** The most memory that the gateway has held since it started, in mebibytes. */
  readonly memory: number;
  /** The CPUs that processes other than the benchmark's used meanwhile. */
  readonly foreign: number;
}

/** A whole run of the benchmark. */
export interface Results {
  readonly machine: Machine;
  readonly samples: Sample[];
}

/** The samples of a place in the tables, put together: medians, but the most memory. */
export interface Figures extends Omit<Sample, 'round'> {
  /** Half of the distance between the lowest and the highest CPU time, as a share of the median. */
  readonly spread: number;
}

const file = new URL('../results.json', import.meta.url);

/** The results that were written last. */
export function readResults(): Results | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `writeResults`
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : undefined;
}

/** Keeps results, so that a run that was broken off can go on. */
export function writeResults({ machine, samples }: Results): void {
  const lines = samples.map((sample) => `    ${JSON.stringify(sample)}`);
  writeFileSync(file, `{\n  "machine": ${JSON.stringify(machine)},\n  "samples": [\n${lines.join(',\n')}\n  ]\n}\n`);
}

/** The figures of several samples of one point. */
export function figuresOf(samples: readonly Sample[]): Figures | undefined {
  const [first] = samples;
  if (first === undefined) return undefined;
  const median = (name: 'operationsPerSecond' | 'p50' | 'p99' | 'calls' | 'foreign'): number =>
    medianOf(samples.map((sample) => sample[name]));
  const cpus = samples.map(({ cpu }) => cpu);
  const cpu = medianOf(cpus);
  return {
    ...first,
    cpu,
    spread: (Math.max(...cpus) - Math.min(...cpus)) / 2 / cpu,
    operationsPerSecond: median('operationsPerSecond'),
    p50: median('p50'),
    p99: median('p99'),
    calls: median('calls'),
    foreign: median('foreign'),
    memory: Math.max(...samples.map(({ memory }) => memory)),
  };
}

/** The middle one, or the mean of the two in the middle. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}
