import type { PluginsReport, RestApi, ValuesQuery } from '../rest/api.ts';
import { type ListRef, listText } from '../rest/pages.ts';
import type { Key } from '../rest/paths.ts';
import type { Position } from '../rest/positions.ts';

/** Reads of the API whose answers are no rows, each made once in an operation. */
export interface Reports
  extends Pick<
    RestApi,
    | 'fetchSelected'
    | 'fetchCsv'
    | 'fetchEventCsv'
    | 'fetchEventValues'
    | 'fetchEventValuesCsv'
    | 'fetchPluginSource'
    | 'fetchPluginsReport'
  > {
  /** Forgets everything read so far. */
  readonly clear: () => void;
}

/** The reports of one operation. Never share the result: it remembers them. */
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
    fetchSelected: once((list: ListRef, at: Position, limit: number) => api.fetchSelected(list, at, limit), pageName),
    fetchCsv: once((list: ListRef, at: Position, limit: number) => api.fetchCsv(list, at, limit), pageName),
    fetchEventCsv: once((key: Key) => api.fetchEventCsv(key)),
    fetchEventValues: once((projectId: string, values: ValuesQuery) => api.fetchEventValues(projectId, values)),
    fetchEventValuesCsv: once((projectId: string, values: ValuesQuery) => api.fetchEventValuesCsv(projectId, values)),
    fetchPluginSource: once((key: Key) => api.fetchPluginSource(key)),
    fetchPluginsReport: once((organizationId: string, report: PluginsReport, query?: string) =>
      api.fetchPluginsReport(organizationId, report, query),
    ),
    clear: () => {
      for (const clear of clears) clear();
    },
  };
}

/** The name of a page of a list. It is short even if the filter of the list is long. */
function pageName(list: ListRef, { offset, before = '' }: Position, limit: number): string {
  return `${limit} ${offset} ${before} ${listText(list)}`;
}
