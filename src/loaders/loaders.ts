import type { RestApi } from '../rest/api.ts';
import { createReports, type Reports } from './reports.ts';
import { RowStore } from './row-store.ts';
import { RowLoader } from './rows.ts';
import { WindowLoader } from './windows.ts';

/** What one operation reads through, so that nothing is read twice. */
export interface Loaders {
  readonly rows: RowLoader;
  readonly windows: WindowLoader;
  readonly reports: Reports;
  readonly store: RowStore;
  /** After a write: rows and pages read before it answer nothing any more. */
  readonly forget: () => void;
}

/** Every loader of one operation. Never share the result: loaders cache. */
export function createLoaders(api: RestApi, maxPageSize: number): Loaders {
  const store = new RowStore();
  const windows = new WindowLoader(api, store, maxPageSize);
  const rows = new RowLoader(api, store, windows, maxPageSize);
  let reports: Reports | undefined;
  return {
    rows,
    windows,
    store,
    get reports() {
      reports ??= createReports(api);
      return reports;
    },
    forget: () => {
      store.clear();
      windows.clear();
      rows.clear();
      reports?.clear();
    },
  };
}
