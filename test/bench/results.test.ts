import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readCallCounts } from '../../bench/report/call-counts.ts';
import { chartOf } from '../../bench/report/chart.ts';
import { pageOf } from '../../bench/report/page.ts';
import { readResults } from '../../bench/report/results.ts';

test('RESULTS.md and the chart of bench/ show what results.json and calls.json hold', () => {
  const results = readResults();
  if (results === undefined) throw new Error('expected results');
  const read = (name: string): string => readFileSync(new URL(`../../bench/${name}`, import.meta.url), 'utf8');
  expect(read('RESULTS.md')).toBe(pageOf(results, readCallCounts()));
  expect(read('chart.svg')).toBe(chartOf(results));
});
