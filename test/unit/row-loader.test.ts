import { expect, test } from 'vitest';
import { RowLoader } from '../../src/loaders/row-loader.ts';
import { RowStore } from '../../src/loaders/row-store.ts';
import { WindowLoader } from '../../src/loaders/window-loader.ts';
import { RestApi } from '../../src/rest/api.ts';
import type { RestClient } from '../../src/rest/client.ts';

const fault = new Error('a fault of the gateway');

const client: RestClient = {
  read: () => Promise.resolve({ id: 1, name: 'Dashboard 1' }),
  write: () => Promise.reject(fault),
};

/** Throws instead of rejecting if dashboard 2 is read. */
class FaultyApi extends RestApi {
  override fetchRow(key: Parameters<RestApi['fetchRow']>[0]): ReturnType<RestApi['fetchRow']> {
    if (key.id === '2') throw fault;
    return super.fetchRow(key);
  }
}

test('an error that is thrown while rows of a list are looked for rejects them, so that no row is waited for in vain', async () => {
  const api = new FaultyApi(client);
  const store = new RowStore();
  const saved = { count: 0 };
  const loader = new RowLoader(api, store, new WindowLoader(api, store, 100, saved), 100, saved);
  const wanted = ['1', '2'].map((id) => loader.load({ noun: 'Dashboard', scope: '1', id }, 'list'));
  const [first, second] = await Promise.allSettled(wanted);
  expect(first).toMatchObject({ value: { row: { id: 1 } } });
  expect(second).toEqual({ status: 'rejected', reason: fault });
});
