/** Results as files: RESULTS.md and chart.svg; or as a table on the terminal. */
import { writeFileSync } from 'node:fs';
import { readFleet, writeFigures } from '../fleet/page.ts';
import { readCallCounts } from './call-counts.ts';
import { chartOf } from './chart.ts';
import { cpuRatio } from './lookup.ts';
import { pageOf } from './page.ts';
import { figuresOf, type Results } from './results.ts';
import { ratio } from './text.ts';

/** Writes bench/RESULTS.md, bench/chart.svg, and what docs/scaling.md shows of them. */
export function writeReport(results: Results): void {
  const fleet = readFleet();
  if (fleet !== undefined) writeFigures(fleet, results);
  writeFileSync(new URL('../RESULTS.md', import.meta.url), pageOf(results, readCallCounts()));
  writeFileSync(new URL('../chart.svg', import.meta.url), chartOf(results));
}

/** Prints what was measured, a line a gateway and place. */
export function printFigures(results: Results): void {
  const places = Map.groupBy(results.samples, ({ gateway, series, scenario, size }) =>
    [series, scenario, size || '', gateway].join(' '),
  );
  const lines = [...places].map(([place, samples]) => {
    const figures = figuresOf(samples);
    if (figures === undefined) return {};
    const { cpu, operationsPerSecond, p50, p99, calls, memory, foreign } = figures;
    const times = ratio(cpuRatio(results, figures, 'floor'));
    return {
      place,
      'CPU µs': cpu,
      '× floor': times,
      'ops/s': operationsPerSecond,
      'p50 ms': p50,
      'p99 ms': p99,
      calls,
      MiB: memory,
      foreign,
    };
  });
  console.table(lines);
}
