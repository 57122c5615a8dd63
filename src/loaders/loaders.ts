import type { RestApi } from '../rest/api.ts';
import { UpstreamError } from '../rest/errors.ts';
import { current } from '../rest/paths.ts';
import { idText } from '../rest/values.ts';
import { createReports, type Reports } from './reports.ts';
import { RowLoader } from './row-loader.ts';
import { RowStore } from './row-store.ts';
import { SavedCalls } from './saved-calls.ts';
import { WindowLoader } from './window-loader.ts';

/** The loaders of one operation, which read nothing twice. Never share them: they remember what they read. */
export class Loaders {
  readonly store = new RowStore();
  readonly #api: RestApi;
  readonly #maxPageSize: number;
  readonly #saved: SavedCalls;
  #rows: RowLoader | undefined;
  #windows: WindowLoader | undefined;
  #reports: Reports | undefined;

  /** `maxPageSize` is the most rows that one call asks for; `saved` counts the calls that are not made. */
  constructor(api: RestApi, maxPageSize: number, saved = new SavedCalls()) {
    this.#api = api;
    this.#maxPageSize = maxPageSize;
    this.#saved = saved;
  }

  get rows(): RowLoader {
    this.#rows ??= new RowLoader(this.#api, this.store, () => this.windows, this.#maxPageSize, this.#saved);
    return this.#rows;
  }

  get windows(): WindowLoader {
    this.#windows ??= new WindowLoader(this.#api, this.store, this.#maxPageSize, this.#saved);
    return this.#windows;
  }

  get reports(): Reports {
    this.#reports ??= createReports(this.#api);
    return this.#reports;
  }

  /**
   * Resolves `@current`: the project that the key's user has open, or that project's organization. Costs one read of the
   * project per operation. NOT_FOUND if there is none.
   */
  async fetchCurrentId(type: 'Project' | 'Organization'): Promise<string> {
    const known = await this.rows.load({ noun: 'Project', scope: '', id: current }, 'list');
    if (known === undefined) throw new UpstreamError('NOT_FOUND');
    const id = idText(known.row[type === 'Project' ? 'id' : 'organization']);
    if (id === undefined) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
    return type === 'Project' ? id : id.toLowerCase();
  }

  /** Called after a write: rows and pages that were read before it are no longer used. */
  forget(): void {
    this.store.clear();
    this.#windows?.clear();
    this.#rows?.clear();
    this.#reports?.clear();
  }
}
