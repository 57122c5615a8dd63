import { expect, test } from 'vitest';
import { DriftWatch } from '../../src/rest/drift/drift-watch.ts';
import { operations } from '../../src/rest/generated/views.ts';
import * as rows from '../support/rows.ts';

/** A client that answers every read with a dashboard that has a column more than the document. */
const client = {
  read: () => Promise.resolve(rows.dashboard(2, { new_column: 1 })),
  write: () => Promise.resolve(),
};

test('about the share of operations is compared that is asked for', async () => {
  const drift = new DriftWatch(0.25, () => undefined);
  for (let operation = 0; operation < 4000; operation += 1)
    await drift.watch(client).read(operations.getDashboard, '/api/projects/1/dashboards/2/');
  const [series] = drift.counts;
  // 1,000 on average; 200 are more than seven standard deviations.
  expect(Math.abs((series?.count ?? 0) - 1000)).toBeLessThan(200);
});

test('nothing stands between an operation and its client if none is compared', () => {
  expect(new DriftWatch(0, () => undefined).watch(client)).toBe(client);
});

test('no column that a row has beside the document is named once clients have sent more names than are kept', async () => {
  const drift = new DriftWatch(1, () => undefined);
  const watched = drift.watch(client);
  for (let index = 0; index <= 1000; index += 1)
    await watched.write(operations.updateDashboard, '/', { [`name_${index}`]: 1 });
  await watched.read(operations.getDashboard, '/api/projects/1/dashboards/2/');
  expect(drift.counts).toEqual([{ route: 'other', column: 'other', kind: 'other', count: 1 }]);
});
