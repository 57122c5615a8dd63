import type { Row } from '../../src/rest/values.ts';
import { pathOf } from './contract.ts';
import type { Random } from './random.ts';

/** The rows of a small upstream: every list by its path, in order, each row with all its columns. */
export interface World {
  readonly lists: ReadonlyMap<string, readonly Row[]>;
  /** The answer to a GET that its lists alone cannot give. */
  readonly answer?: (target: string) => unknown;
  /** True if its `next` of events names a time, as that of the hosted service; by default it names an offset. */
  readonly isWalkedByTime?: boolean;
}

/** The organization of every project and of most plugins. */
const organizationId = '018f1c4e-0000-7000-8000-00000000000a';
const foreignId = '018f1c4e-0000-7000-8000-00000000000f';

/** The organizations that have a global id. */
export const realOrganizationIds: readonly string[] = [organizationId, foreignId];

/** Ways in which operations name an organization: by its id, as the caller's own, and by that of another. */
export const organizationIds: readonly string[] = [organizationId, '@current', foreignId];
const projectIds: readonly string[] = ['1', '2', '3'];

/** A world whose `@current` is project 1, of up to three projects with up to `most` rows a list, in which every reference leads somewhere. */
export function worldOf(random: Random, most: number): World {
  const size = (): number => random.number(0, most);
  const lists = new Map<string, readonly Row[]>();
  const projects = projectIds.slice(0, random.number(1, 3)).map((id) => {
    const dashboards = rowsOf(size(), (number) => dashboardRow(Number(id) * 100 + number));
    for (const row of dashboards) Object.assign(row, { use_dashboard: referredId(random, dashboards) });
    const events = rowsOf(size(), eventRow);
    for (const scope of id === '1' ? [id, '@current'] : [id]) {
      lists.set(pathOf('Dashboard', scope), dashboards);
      lists.set(pathOf('Event', scope), events);
    }
    return projectRow(Number(id), referredId(random, dashboards));
  });
  lists.set(pathOf('Project', ''), projects);
  const foreign = random.number(2, 40);
  const plugins = rowsOf(size(), (number) => pluginRow(number, number === foreign ? foreignId : organizationId));
  for (const id of [organizationId, '@current']) lists.set(pathOf('Plugin', id), plugins);
  lists.set(pathOf('Plugin', foreignId), random.once(2) ? [pluginRow(foreign, foreignId)] : []);
  return { lists };
}

/** The columns of a row as its list shows it. */
export function listed(path: string, row: Row): Row {
  const isPartial = path === pathOf('Project', '') || path.endsWith('/dashboards/');
  return isPartial ? Object.fromEntries(Object.entries(row).filter(([name]) => !detailOnly.has(name))) : row;
}

const detailOnly: ReadonlySet<string> = new Set([
  'anonymize_ips',
  'primary_dashboard',
  'use_dashboard',
  'tiles',
  'use_template',
]);

function rowsOf(count: number, row: (number: number) => Row): Row[] {
  return Array.from({ length: count }, (_, index) => row(index + 1));
}

function referredId(random: Random, rows: readonly Row[]): unknown {
  return rows.length === 0 || random.once(3) ? null : random.pick(rows)['id'];
}

function projectRow(id: number, primaryDashboard: unknown): Row {
  return {
    id,
    name: `Project ${id}`,
    timezone: 'UTC',
    organization: organizationId,
    anonymize_ips: id % 2 === 0,
    primary_dashboard: primaryDashboard,
  };
}

function dashboardRow(id: number): Row {
  return { id, name: `Dashboard ${id}`, pinned: id % 2 === 0, tiles: [{ id }], use_template: `Template ${id}` };
}

function eventRow(number: number): Row {
  const timestamp = new Date(Date.UTC(2024, 4, 1) - number * 1000).toISOString();
  return { id: `e-${number}`, event: number % 3 === 0 ? 'click' : 'view', timestamp, distinct_id: `${number}` };
}

function pluginRow(id: number, organization: string): Row {
  const name = organization === organizationId ? 'Acme' : 'Other';
  return {
    id,
    name: `Plugin ${id}`,
    tag: `v${id}`,
    organization_id: organization,
    organization_name: name,
    is_global: organization !== organizationId,
  };
}
