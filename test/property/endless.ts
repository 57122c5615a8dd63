import { createHash } from 'node:crypto';
import type { Noun } from '../../src/rest/nouns.ts';
import type { Row } from '../../src/rest/values.ts';
import { pathOf } from './contract.ts';
import { listed, organizationIds, type World } from './world.ts';

/** More rows than any operation reads. */
const count = 1_000_000;

/** Collections of which operations name rows by their ids. */
const named: readonly (readonly [Noun, string])[] = [
  ['Project', ''],
  ...['1', '2', '3', '@current'].flatMap((id) => [['Dashboard', id] as const, ['Event', id] as const]),
  ...organizationIds.map((id) => ['Plugin', id] as const),
];

/**
 * A world in which every list is longer than any operation reads, every id leads to a row, and no two places lead to the same: nothing that may
 * be shared by chance is, so that operations make as many calls as they can.
 */
export function endlessWorld(): World {
  const lists = new Map(named.map(([noun, scope]) => [pathOf(noun, scope), rowsFrom(pathOf(noun, scope), 0, 5)]));
  return { lists, answer };
}

function answer(target: string): unknown {
  const [path = '', search = ''] = target.split('?');
  const query = new URLSearchParams(search);
  const [, collection = '', id = '', report = ''] =
    /^(\/api\/.*?(?:dashboards|events|plugins)\/|\/api\/projects\/)(?:([^/]+)\/)?(\w+\/)?$/.exec(path) ?? [];
  if (id === '') return pageOf(path, query);
  if (report === 'check_for_updates/') return { plugin: rowOf(collection, numberOf(path)) };
  return report === '' && !/^[a-z_]+$/.test(id) ? rowOf(collection, id) : { report: path };
}

function pageOf(path: string, query: URLSearchParams): unknown {
  const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset') ?? 0)];
  // Lists with different filters have nothing in common.
  const rows = rowsFrom(path, offset, limit, query.get('event') ?? '');
  return {
    ...(!path.endsWith('/events/') && { count }),
    next: offset + limit < count ? `https://upstream.example${path}?limit=${limit}&offset=${offset + limit}` : null,
    results: query.has('select') ? rows.map(({ event }) => [event]) : rows.map((row) => listed(path, row)),
  };
}

function rowsFrom(path: string, offset: number, limit: number, filter = ''): readonly Row[] {
  return Array.from({ length: limit }, (_, index) => rowOf(path, numberOf(`${path} ${filter} ${offset + index}`)));
}

/** The row with an id: the same one by the list and by the id. What it refers to, nothing else refers to. */
function rowOf(collection: string, id: number | string): Row {
  const place = `${collection}${id}`;
  const other = numberOf(`${place} refers to`);
  const common = { id: collection.endsWith('/events/') ? String(id) : Number(id === '@current' ? 1 : id), name: place };
  if (collection.endsWith('/events/')) return { ...common, event: 'click', distinct_id: place };
  if (collection.endsWith('/plugins/')) {
    return { ...common, tag: 'v1', is_global: true, organization_id: uuidOf(place), organization_name: 'Another' };
  }
  if (collection.endsWith('/dashboards/')) return { ...common, pinned: true, tiles: [], use_dashboard: other };
  return { ...common, timezone: 'UTC', organization: uuidOf(place), anonymize_ips: true, primary_dashboard: other };
}

/** A number for a text, another one for each. */
function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}

function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
