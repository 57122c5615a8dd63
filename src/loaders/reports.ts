import type { PluginsReport, RestApi } from '../rest/api.ts';
import { type ListRef, listText } from '../rest/pages.ts';
import type { Key } from '../rest/paths.ts';

/** Reads of the API whose answers are no rows, each made once in an operation. */
export interface Reports
  extends Pick<
    RestApi,
    'fetchSelected' | 'fetchCsv' | 'fetchEventValues' | 'fetchPluginSource' | 'fetchPluginsReport'
  > {
  /** Nothing read so far answers later reads. */
  readonly clear: () => void;
}

/** The reports of one operation. Never share the result: it caches. */
export function createReports(api: RestApi): Reports {
  const clears: (() => void)[] = [];
  const once = <Args extends readonly unknown[], T>(
    read: (...args: Args) => Promise<T>,
    nameOf: (...args: Args) => string = (...args) => JSON.stringify(args),
  ) => {
    const known = new Map<string, Promise<T>>();
    clears.push(() => known.clear());
    return (...args: Args): Promise<T> => {
      const name = nameOf(...args);
      const answer = known.get(name) ?? read(...args);
      known.set(name, answer);
      return answer;
    };
  };
  return {
    fetchSelected: once((list: ListRef, limit: number) => api.fetchSelected(list, limit), pageName),
    fetchCsv: once((list: ListRef, limit: number) => api.fetchCsv(list, limit), pageName),
    fetchEventValues: once((projectId: string, key: string | undefined, eventName: string | undefined) =>
      api.fetchEventValues(projectId, key, eventName),
    ),
    fetchPluginSource: once((key: Key) => api.fetchPluginSource(key)),
    fetchPluginsReport: once((organizationId: string, report: PluginsReport) =>
      api.fetchPluginsReport(organizationId, report),
    ),
    clear: () => {
      for (const clear of clears) clear();
    },
  };
}

/** A list as text is short, however long its filter is. */
function pageName(list: ListRef, limit: number): string {
  return `${limit} ${listText(list)}`;
}
