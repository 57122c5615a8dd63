import { expect, test } from 'vitest';
import { DriftWatch } from '../../src/rest/drift/drift-watch.ts';
import { operations } from '../../src/rest/generated/views.ts';
import * as rows from '../support/rows.ts';

const { getDashboard } = operations;
const target = '/api/projects/1/dashboards/2/';
/** A dashboard that has a column more than the document. */
const dashboard = rows.dashboard(2, { new_column: 1 });

test('about the share of answers is compared that is asked for', () => {
  const drift = new DriftWatch(0.25, () => undefined);
  for (let answer = 0; answer < 4000; answer += 1) drift.answered(getDashboard, target, dashboard);
  const [series] = drift.counts;
  // 1,000 on average; 200 are more than seven standard deviations.
  expect(Math.abs((series?.count ?? 0) - 1000)).toBeLessThan(200);
});

test('no column that a row has beside the document is named once clients have sent more names than are kept', () => {
  const drift = new DriftWatch(1, () => undefined);
  for (let index = 0; index <= 1000; index += 1) drift.written({ [`name_${index}`]: 1 });
  drift.answered(getDashboard, target, dashboard);
  expect(drift.counts).toEqual([{ route: 'other', column: 'other', kind: 'other', count: 1 }]);
});

test('a comparison that fails is logged once, and throws nothing into the call', () => {
  const logged: unknown[] = [];
  const drift = new DriftWatch(1, (...line) => logged.push(line));
  const wrongId = '/api/organizations/%/plugins/1/';
  for (const _ of [1, 2]) drift.answered(operations.getPlugin, wrongId, rows.plugin(1));
  expect(logged).toEqual([
    [
      'error',
      'an answer of the upstream could not be compared with the OpenAPI document',
      { route: '/api/organizations/:id/plugins/:id/', reason: 'URI malformed' },
    ],
  ]);
});
