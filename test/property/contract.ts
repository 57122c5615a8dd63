import type { Noun } from '../../src/rest/nouns.ts';
import type { ListRef } from '../../src/rest/pages.ts';

/** The path of the collection of a kind. */
export function pathOf(noun: Noun, scope: string): string {
  switch (noun) {
    case 'Project':
      return '/api/projects/';
    case 'Dashboard':
      return `/api/projects/${scope}/dashboards/`;
    case 'Event':
      return `/api/projects/${scope}/events/`;
    case 'Plugin':
      return `/api/organizations/${scope}/plugins/`;
  }
}

/** The column that answers a field, by the name that the REST API gives it. */
export function columnOf(noun: Noun, field: string): string {
  if (field === 'organizationId') return noun === 'Project' ? 'organization' : 'organization_id';
  const plain = field.endsWith('DashboardId') ? field.slice(0, -'Id'.length) : field;
  return plain.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Of the columns that are selected in properties, those that lists do not have. */
export function isDetail(noun: Noun, column: string): boolean {
  if (noun === 'Project') return column === 'anonymize_ips' || column === 'primary_dashboard';
  return noun === 'Dashboard' && ['tiles', 'use_template', 'use_dashboard'].includes(column);
}

/** The path and query of a page. */
export function pageTarget({ noun, scope, filter }: ListRef, offset: number, limit: number): string {
  const event = filter?.event === undefined ? '' : `&event=${filter.event}`;
  return `${pathOf(noun, scope)}?limit=${limit}${offset === 0 ? '' : `&offset=${offset}`}${event}`;
}

const reports: Readonly<Record<string, string>> = {
  source: 'source/',
  pluginActivity: 'activity/',
  pluginExportsUnsubscribeConfigs: 'exports_unsubscribe_configs/',
  pluginRepository: 'repository/',
  unusedPlugins: 'unused/',
};

/** The target of a field that reads neither a row nor a page; undefined for other fields. */
export function reportTarget(
  { noun, scope, id }: { readonly noun: Noun | 'Organization'; readonly scope: string; readonly id: string },
  field: string,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  const limit = typeof args['first'] === 'number' ? args['first'] : 50;
  const events = pathOf('Event', id);
  const page = `${events}?limit=${limit}`;
  const select = Array.isArray(args['select']) ? `&select=${encodeURIComponent('["event"]')}` : '';
  if (field === 'eventCsv') return `${events}${String(args['id'])}/?format=csv`;
  if (field === 'eventValues') return `${events}values/?key=${String(args['key'])}`;
  if (field === 'eventValuesCsv') return `${events}values/?key=${String(args['key'])}&format=csv`;
  if (field === 'eventsCsv') return `${page}${select}&format=csv`;
  if (field === 'eventRows') return `${page}${select}`;
  const report = reports[field];
  if (report === undefined) return undefined;
  return noun === 'Plugin' ? `${pathOf(noun, scope)}${id}/${report}` : `${pathOf('Plugin', id)}${report}`;
}
