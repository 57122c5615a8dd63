/** The points that are measured: scenarios under conditions. */
import type { GatewayName } from '../gateways/table.ts';
import { type ScenarioName, scenarioNames } from '../scenarios/names.ts';
import type { Variant } from '../scenarios/variants.ts';

/**
 * The conditions of a measurement. `distinct`: operations ask for different objects. `hot`: all ask for the same. `slow`:
 * distinct, and the upstream takes 20 ms. `rows`, `fanOut` and `concurrency` grow one number: the rows of S5, the fan-out of
 * S3, the operations of S2 that are asked at a time. The gateway is warm in all of these; in `start`, `first` and `hundred`
 * it has just been started.
 */
export type Series = 'distinct' | 'hot' | 'slow' | 'rows' | 'fanOut' | 'concurrency' | 'start' | 'first' | 'hundred';

/** One thing to measure with every gateway that can. */
export interface Point {
  readonly series: Series;
  readonly scenario: ScenarioName;
  /** The quantity that grows in the series; 0 in series where nothing grows. */
  readonly size: number;
  readonly concurrency: number;
  /** The most operations of a run. */
  readonly operations: number;
  readonly latencyMs: number;
  /** The variants that are asked for in turn. */
  readonly variants: readonly number[];
  readonly changes: Partial<Variant>;
}

/** The latency of the slow upstream, in milliseconds. */
export const slowMs = 20;

/** The number of operations under way at a time, in all series but `concurrency`. */
export const usualConcurrency = 16;

/** The gateways whose growth is measured: ours, what it is measured by, and the fastest peer of its kind. */
export const grownGateways: readonly GatewayName[] = ['floor', 'ours', 'mercurius'];

/** The sizes of the series that grow. */
export const sizes = {
  rows: [10, 30, 100, 300, 1000],
  fanOut: [1, 3, 10, 30, 100],
  concurrency: [1, 4, 16, 64, 256, 512],
} as const;

const usual = {
  size: 0,
  concurrency: usualConcurrency,
  operations: Infinity,
  latencyMs: 0,
  variants: upTo(100),
  changes: {},
};
const basic = scenarioNames.filter((name) => /^S\d$/.test(name));

/** Everything that is measured with every gateway, in order. */
export const points: readonly Point[] = [
  ...scenarioNames.map((scenario): Point => ({ ...usual, series: 'distinct', scenario })),
  ...basic.map((scenario): Point => ({ ...usual, series: 'hot', scenario, variants: [7] })),
  ...basic.map((scenario): Point => ({ ...usual, series: 'slow', scenario, latencyMs: slowMs })),
];

/** Where the start of a process is told. */
export const started = { series: 'start', scenario: 'S6', size: 0 } as const;

/** The first operation of a process, and the hundred after it, one by one. */
export const firstRequest: Point = { ...usual, series: 'first', scenario: 'S2', concurrency: 1, operations: 1 };
export const firstHundred: Point = { ...firstRequest, series: 'hundred', operations: 100 };

/** The points that are measured with `grownGateways`. */
export const growth: readonly Point[] = [
  // First, while only these have needed memory.
  ...sizes.concurrency.map(
    (size): Point => ({
      ...usual,
      series: 'concurrency',
      scenario: 'S2',
      size,
      concurrency: size,
      variants: upTo(1000),
    }),
  ),
  ...sizes.rows.map((size): Point => ({ ...usual, series: 'rows', scenario: 'S5', size, changes: { rows: size } })),
  ...sizes.fanOut.map((size): Point => {
    // Variants begin twenty projects apart: larger ones must not overlap.
    const variants = upTo(100).filter((index) => index % Math.ceil(size / 20) === 0);
    return { ...usual, series: 'fanOut', scenario: 'S3', size, variants, changes: { parents: size } };
  }),
];

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
