import { organizationOf } from '../auth.ts';
import { type Answer, type Call, created, noContent, ok } from '../call.ts';
import { notFound, permissionDenied } from '../errors.ts';
import { type JsonObject, pick } from '../json.ts';
import { pageOf } from '../pages.ts';
import type { Stored } from '../records.ts';
import { type Change, noteActivity } from './activity.ts';
import { catalogEntryAt } from './catalog.ts';
import { newPlugin, pluginRequestFields } from './fields.ts';
import { publishedFiles, writeFiles } from './files.ts';

/** GET /api/organizations/{org_id}/plugins/ */
export function listPlugins(call: Call): Answer {
  return pageOf(call, call.store.plugins, organizationOf(call).id, toPlugin);
}

/** POST /api/organizations/{org_id}/plugins/ */
export function createPlugin(call: Call): Answer {
  const organization = organizationOf(call);
  const body = newPlugin(organization, call.body);
  const id = call.store.plugins.insert(organization.id, body);
  const entry = catalogEntryAt(body.url);
  if (entry !== undefined) writeFiles(call.store, id, publishedFiles(entry, body.tag));
  const plugin = { id, owner: organization.id, deleted: false, body };
  noteActivity(call, plugin, 'installed');
  return created(toPlugin(plugin));
}

/** GET /api/organizations/{org_id}/plugins/{id}/ */
export function getPlugin(call: Call): Answer {
  return ok(toPlugin(pluginOf(call)));
}

/** PATCH /api/organizations/{org_id}/plugins/{id}/ */
export function updatePlugin(call: Call): Answer {
  const { plugin, changes } = changePlugin(call, ownPluginOf(call), pick(call.body, pluginRequestFields));
  if (changes.length > 0) noteActivity(call, plugin, 'updated', changes);
  return ok(toPlugin(plugin));
}

/** DELETE /api/organizations/{org_id}/plugins/{id}/ */
export function deletePlugin(call: Call): Answer {
  const plugin = ownPluginOf(call);
  call.store.plugins.remove(plugin.id);
  noteActivity(call, plugin, 'uninstalled');
  return noContent;
}

/** The plugin of the path, which may be a global one of another organization. */
export function pluginOf(call: Call): Stored {
  const plugin = call.store.plugins.find(organizationOf(call).id, Number(call.params.id));
  if (plugin === undefined) throw notFound();
  return plugin;
}

/** The plugin of the path, which only the organization that has installed it can change. */
export function ownPluginOf(call: Call): Stored {
  const plugin = pluginOf(call);
  if (plugin.owner !== call.user.organization.id)
    throw permissionDenied('This plugin is global, and managed by the organization that has installed it.');
  return plugin;
}

/** Answers the plugin as it is with `fields`, and which of them differ. */
export function changePlugin(
  { store }: Call,
  plugin: Stored,
  fields: JsonObject,
): { readonly plugin: Stored; readonly changes: readonly Change[] } {
  const body = { ...plugin.body, ...fields };
  store.plugins.update(plugin.id, body);
  const changes = Object.entries(fields)
    .map(([field, after]) => ({ field, before: plugin.body[field] ?? null, after }))
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))
    .map((change) => ({ type: 'Plugin', action: 'changed', ...change }) as const);
  return { plugin: { ...plugin, body }, changes };
}

/** A plugin as answers show it. */
export function toPlugin({ id, body }: Stored): JsonObject {
  return { id, ...body };
}
