import { organizationOf } from '../auth.ts';
import { type Answer, type Call, created, noContent, ok } from '../call.ts';
import { notFound } from '../errors.ts';
import { type JsonObject, pick } from '../json.ts';
import { pageOf } from '../pages.ts';
import type { Stored } from '../records.ts';
import { noteActivity } from './activity.ts';
import { newPlugin, pluginRequestFields } from './fields.ts';

/** GET /api/organizations/{org_id}/plugins/ */
export function listPlugins(call: Call): Answer {
  return pageOf(call, call.store.plugins, organizationOf(call).id, toPlugin);
}

/** POST /api/organizations/{org_id}/plugins/ */
export function createPlugin(call: Call): Answer {
  const organization = organizationOf(call);
  const body = newPlugin(organization, call.body);
  const id = call.store.plugins.insert(organization.id, body);
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
  const plugin = changePlugin(call, pluginOf(call), pick(call.body, pluginRequestFields));
  noteActivity(call, plugin, 'updated');
  return ok(toPlugin(plugin));
}

/** DELETE /api/organizations/{org_id}/plugins/{id}/ */
export function deletePlugin(call: Call): Answer {
  const plugin = pluginOf(call);
  call.store.plugins.remove(plugin.id);
  noteActivity(call, plugin, 'uninstalled');
  return noContent;
}

/** The plugin of the path. */
export function pluginOf(call: Call): Stored {
  const plugin = call.store.plugins.find(organizationOf(call).id, Number(call.params.id));
  if (plugin === undefined) throw notFound();
  return plugin;
}

/** Answers the plugin with `changes` made. */
export function changePlugin({ store }: Call, plugin: Stored, changes: JsonObject): Stored {
  const body = { ...plugin.body, ...changes };
  store.plugins.update(plugin.id, body);
  return { ...plugin, body };
}

/** A plugin as answers show it. */
export function toPlugin({ id, body }: Stored): JsonObject {
  return { id, ...body };
}
