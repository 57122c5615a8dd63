import { type JsonObject, pick } from '../json.ts';
import { catalogEntryAt } from './catalog.ts';

/** The names of the fields that requests can set. */
export const pluginRequestFields: readonly string[] = [
  'plugin_type',
  'name',
  'description',
  'icon',
  'config_schema',
  'tag',
  'is_global',
  'capabilities',
  'metrics',
  'public_jobs',
];

/** Every field of a new plugin but its id. What the request leaves open comes from the catalog, if `url` is in it. */
export function newPlugin(
  organization: { readonly id: string; readonly name: string },
  request: JsonObject,
): JsonObject {
  const url = typeof request.url === 'string' ? request.url : null;
  const known = catalogEntryAt(url);
  return {
    plugin_type: known ? 'repository' : 'custom',
    name: known?.name ?? null,
    description: known?.description ?? null,
    url,
    icon: known?.icon ?? null,
    config_schema: [],
    tag: known?.latest_tag ?? null,
    latest_tag: known?.latest_tag ?? null,
    is_global: false,
    organization_id: organization.id,
    organization_name: organization.name,
    capabilities: {},
    metrics: {},
    public_jobs: {},
    ...pick(request, pluginRequestFields),
  };
}
