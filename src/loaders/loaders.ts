import type { RestApi } from '../rest/api.ts';
import { UpstreamError } from '../rest/errors.ts';
import { type ListRef, listText } from '../rest/pages.ts';
import { current } from '../rest/paths.ts';
import type { Position } from '../rest/positions.ts';
import { idText } from '../rest/values.ts';
import { RowLoader } from './row-loader.ts';
import { RowStore } from './row-store.ts';
import { SavedCalls } from './saved-calls.ts';
import { WindowLoader } from './window-loader.ts';

/** The loaders of one operation. They read nothing twice. Never share them: they remember what they have read. */
export class Loaders {
  store = new RowStore();
  readonly #api: RestApi;
  readonly #maxPageSize: number;
  readonly #saved: SavedCalls;
  #rows: RowLoader | undefined;
  #windows: WindowLoader | undefined;
  #memoized: MemoizedReads | undefined;

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

  get memoized(): MemoizedReads {
    this.#memoized ??= createMemoizedReads(this.#api);
    return this.#memoized;
  }

  /**
   * Resolves `@current`: the project that the key's user has open, or that project's organization. Costs one read of
   * the project per operation. Rejects with NOT_FOUND if the user has no project open.
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
    this.store = new RowStore();
    this.#windows = undefined;
    this.#rows = undefined;
    this.#memoized = undefined;
  }
}

/** The methods of the API that read something other than rows. */
type MemoizedReads = Pick<
  RestApi,
  | 'fetchSelected'
  | 'fetchCsv'
  | 'fetchEventCsv'
  | 'fetchEventValues'
  | 'fetchEventValuesCsv'
  | 'fetchPluginSource'
  | 'fetchPluginsReport'
>;

/** Makes each read once. Never share the result: it remembers the answers. */
function createMemoizedReads(api: RestApi): MemoizedReads {
  return {
    fetchSelected: once((...page) => api.fetchSelected(...page), pageName),
    fetchCsv: once((...page) => api.fetchCsv(...page), pageName),
    fetchEventCsv: once((key) => api.fetchEventCsv(key)),
    fetchEventValues: once((...values) => api.fetchEventValues(...values)),
    fetchEventValuesCsv: once((...values) => api.fetchEventValuesCsv(...values)),
    fetchPluginSource: once((key) => api.fetchPluginSource(key)),
    fetchPluginsReport: once((...report) => api.fetchPluginsReport(...report)),
  };
}

function once<Args extends readonly unknown[], T>(
  read: (...args: Args) => Promise<T>,
  nameOf: (...args: Args) => string = (...args) => JSON.stringify(args),
): (...args: Args) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (...args) => {
    const name = nameOf(...args);
    const answer = known.get(name) ?? read(...args);
    known.set(name, answer);
    return answer;
  };
}

/** The name of a page of a list. It is short even if the filter of the list is long. */
function pageName(list: ListRef, { offset, before = '' }: Position, limit: number): string {
  return `${limit} ${offset} ${before} ${listText(list)}`;
}
