import type { Call } from '../call.ts';
import { textIn } from '../database.ts';
import { type JsonObject, parseObject } from '../json.ts';
import type { Stored } from '../records.ts';

/** What can happen to a plugin. */
export type PluginActivity = 'installed' | 'updated' | 'source_updated' | 'upgraded' | 'uninstalled';

/** Notes what the user of the call did to a plugin of the user's organization. */
export function noteActivity({ store, user }: Call, plugin: Stored, activity: PluginActivity): void {
  const entry = toEntry(user.profile, plugin, activity, new Date().toISOString());
  store.database
    .prepare('INSERT INTO plugin_activity (organization_id, body) VALUES (?, ?)')
    .run(user.organization.id, JSON.stringify(entry));
}

/** An entry of the activity log. */
export function toEntry(profile: JsonObject, plugin: Stored, activity: PluginActivity, at: string): JsonObject {
  return {
    user: { first_name: profile.first_name, email: profile.email },
    activity,
    scope: 'Plugin',
    item_id: String(plugin.id),
    detail: { name: plugin.body.name, changes: null },
    created_at: at,
  };
}

/** The activity log of an organization, newest first. */
export function activityOf({ store }: Call, organizationId: string): JsonObject[] {
  return store.database
    .prepare('SELECT body FROM plugin_activity WHERE organization_id = ? ORDER BY id DESC')
    .all(organizationId)
    .map((row) => parseObject(textIn(row, 'body')));
}
