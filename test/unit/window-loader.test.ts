import { expect, test } from 'vitest';
import type { Window } from '../../src/loaders/merged-pages.ts';
import { RowStore } from '../../src/loaders/row-store.ts';
import { WindowLoader } from '../../src/loaders/window-loader.ts';
import { RestApi } from '../../src/rest/api.ts';
import type { RestClient } from '../../src/rest/client.ts';

const fault = new Error('a fault of the gateway');

/** Throws, and does not reject, if dashboards of project 2 are read. */
const client: RestClient = {
  read: (_operation, path) => {
    if (path.startsWith('/api/projects/2/')) throw fault;
    return Promise.resolve({ count: 1, next: null, previous: null, results: [{ id: 7 }] });
  },
  write: () => Promise.reject(fault),
};

function dashboardsOf(scope: string, offset: number): Window {
  return { list: { noun: 'Dashboard', scope }, at: { offset }, limit: 1 };
}

test('a read that throws before it is under way rejects the windows of its list, and no others', async () => {
  const loader = new WindowLoader(new RestApi(client), new RowStore(), 100, { count: 0 });
  const wanted = [dashboardsOf('1', 0), dashboardsOf('2', 0), dashboardsOf('2', 5), dashboardsOf('3', 0)];
  const [first, second, third, fourth] = await Promise.allSettled(wanted.map((window) => loader.load(window)));
  expect(second).toEqual({ status: 'rejected', reason: fault });
  expect(third).toEqual({ status: 'rejected', reason: fault });
  for (const found of [first, fourth]) expect(found).toMatchObject({ value: { rows: [{ id: 7 }] } });
});
