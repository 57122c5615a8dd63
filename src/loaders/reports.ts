import type { RestApi } from '../rest/api.ts';

/** Reads of the API whose answers are no rows, each made once in an operation. */
export interface Reports
  extends Pick<
    RestApi,
    'fetchSelected' | 'fetchCsv' | 'fetchEventValues' | 'fetchPluginReport' | 'fetchPluginsReport'
  > {
  /** Nothing read so far answers later reads. */
  readonly clear: () => void;
}

/** The reports of one operation. Never share the result: it caches. */
export function createReports(api: RestApi): Reports {
  const clears: (() => void)[] = [];
  const once = <Args extends readonly unknown[], T>(read: (...args: Args) => Promise<T>) => {
    const known = new Map<string, Promise<T>>();
    clears.push(() => known.clear());
    return (...args: Args): Promise<T> => {
      const name = JSON.stringify(args);
      const answer = known.get(name) ?? read(...args);
      known.set(name, answer);
      return answer;
    };
  };
  return {
    fetchSelected: once(api.fetchSelected),
    fetchCsv: once(api.fetchCsv),
    fetchEventValues: once(api.fetchEventValues),
    fetchPluginReport: once(api.fetchPluginReport),
    fetchPluginsReport: once(api.fetchPluginsReport),
    clear: () => {
      for (const clear of clears) clear();
    },
  };
}
