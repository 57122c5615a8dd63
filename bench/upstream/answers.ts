/** The upstream's answers: a request target to a status and a JSON text. */
import type { JsonObject } from '../../test/support/replies.ts';
import {
  dashboardCount,
  dashboardId,
  dashboardRow,
  eventCount,
  eventRow,
  listedDashboardRow,
  listedProjectRow,
  organizationNumber,
  pluginCount,
  pluginRow,
  projectCount,
  projectRow,
} from './world.ts';

/** An answer before it is written to the wire. */
export interface Answer {
  readonly status: 200 | 404;
  readonly body: string;
}

type Row = (position: number) => JsonObject;

/** Answers a GET; `target` is a path with its query. */
export function answerOf(target: string): Answer {
  const url = new URL(target, 'http://upstream.invalid');
  const body = bodyOf(url);
  if (body === undefined)
    return { status: 404, body: '{"type":"invalid_request","code":"not_found","detail":"Not found."}' };
  return { status: 200, body: JSON.stringify(body) };
}

function bodyOf(url: URL): JsonObject | undefined {
  const [, , scope, owner = '', list, id] = url.pathname.split('/');
  if (scope === 'organizations') return pluginsOf(url, organizationNumber(owner), id);
  if (scope !== 'projects') return undefined;
  if (owner === '') return page(url, projectCount, listedProjectRow);
  const project = Number(owner);
  if (!isWithin(project, projectCount)) return undefined;
  if (list === '' || list === undefined) return projectRow(project);
  if (list === 'dashboards') return dashboardsOf(url, project, id);
  if (list === 'events' && id === '') return page(url, eventCount, (position) => eventRow(project, position), false);
  return undefined;
}

function dashboardsOf(url: URL, project: number, id = ''): JsonObject | undefined {
  if (id === '') return page(url, dashboardCount, (position) => listedDashboardRow(project, position));
  const position = Number(id) - dashboardId(project, 0);
  return isWithin(position, dashboardCount) ? dashboardRow(project, position) : undefined;
}

function pluginsOf(url: URL, organization: number | undefined, id = ''): JsonObject | undefined {
  if (organization === undefined || id !== '') return undefined;
  return page(url, pluginCount, (position) => pluginRow(organization, position));
}

function page(url: URL, total: number, row: Row, counted = true): JsonObject {
  const limit = Number(url.searchParams.get('limit') ?? 100);
  const offset = Number(url.searchParams.get('offset') ?? 0);
  const end = Math.min(offset + limit, total);
  const results = Array.from({ length: Math.max(end - offset, 0) }, (_, index) => row(offset + index + 1));
  const next = end < total ? `${url.origin}${url.pathname}?limit=${limit}&offset=${end}` : null;
  return counted ? { count: total, next, previous: null, results } : { next, results };
}

function isWithin(position: number, count: number): boolean {
  return Number.isInteger(position) && position >= 1 && position <= count;
}
