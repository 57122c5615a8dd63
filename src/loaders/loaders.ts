import type { RestApi } from '../rest/api.ts';
import { UpstreamError } from '../rest/errors.ts';
import { type ListRef, listText } from '../rest/pages.ts';
import { current } from '../rest/paths.ts';
import type { Position } from '../rest/positions.ts';
import { idText } from '../rest/values.ts';
import { RowLoader } from './row-loader.ts';
import { RowStore } from './row-store.ts';
import { type SavedCalls, WindowLoader } from './window-loader.ts';

/** The loaders of one operation. They keep what they read, and read nothing twice. Operations never share them. */
export class Loaders {
  store = new RowStore();
  readonly #api: RestApi;
  readonly #maxPageSize: number;
  readonly #saved: SavedCalls;
  #rows: RowLoader | undefined;
  #windows: WindowLoader | undefined;
  #memoized: MemoizedReads | undefined;

  /** `maxPageSize` is the most rows that one call asks for. */
  constructor(api: RestApi, maxPageSize: number, saved: SavedCalls) {
    this.#api = api;
    this.#maxPageSize = maxPageSize;
    this.#saved = saved;
  }

  get rows(): RowLoader {
    this.#rows ??= new RowLoader(this.#api, this.store, this.windows, this.#maxPageSize, this.#saved);
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

  /** Forgets all rows and pages. Called after a write, because what was read before it is not used any more. */
  forget(): void {
    this.store = new RowStore();
    this.#windows = undefined;
    this.#rows = undefined;
    this.#memoized = undefined;
  }
}

type MemoizedReads = ReturnType<typeof createMemoizedReads>;

/** The methods of the API that read something other than rows. Each read is made once. */
function createMemoizedReads(api: RestApi) {
  return {
    fetchSelected: memoized(api.fetchSelected.bind(api), pageName),
    fetchCsv: memoized(api.fetchCsv.bind(api), pageName),
    fetchEventCsv: memoized(api.fetchEventCsv.bind(api)),
    fetchEventValues: memoized(api.fetchEventValues.bind(api)),
    fetchEventValuesCsv: memoized(api.fetchEventValuesCsv.bind(api)),
    fetchPluginSource: memoized(api.fetchPluginSource.bind(api)),
    fetchPluginsReport: memoized(api.fetchPluginsReport.bind(api)),
  };
}

function memoized<Args extends readonly unknown[], T>(
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

/** The name of a page, short even if the filter of its list is long. */
function pageName(list: ListRef, { offset, before = '' }: Position, limit: number): string {
  return `${limit} ${offset} ${before} ${listText(list)}`;
}
