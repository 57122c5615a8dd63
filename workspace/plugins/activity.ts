import type { Call } from '../call.ts';
import { integerIn, textIn } from '../database.ts';
import { type JsonObject, parseObject } from '../json.ts';
import type { Window } from '../pages.ts';
import type { Stored } from '../records.ts';

/** The events in the life of a plugin. */
export type PluginActivity = 'installed' | 'updated' | 'source_updated' | 'upgraded' | 'uninstalled';

/** A change of one field of a plugin, or of one of its files. */
export interface Change {
  readonly type: 'Plugin' | 'PluginSourceFile';
  readonly action: 'created' | 'changed' | 'deleted';
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Notes what the user of the call did to a plugin of the user's organization. */
export function noteActivity(
  { store, user }: Call,
  plugin: Stored,
  activity: PluginActivity,
  changes: readonly Change[] | null = null,
): void {
  const entry = toEntry(user.profile, plugin, { activity, changes, at: new Date().toISOString() });
  store.database
    .prepare('INSERT INTO plugin_activity (organization_id, body) VALUES (?, ?)')
    .run(user.organization.id, JSON.stringify(entry));
}

/** An action on a plugin: its changes and its time. */
interface Deed {
  readonly activity: PluginActivity;
  readonly changes: readonly Change[] | null;
  readonly at: string;
}

/** An entry of the activity log. */
export function toEntry(profile: JsonObject, plugin: Stored, { activity, changes, at }: Deed): JsonObject {
  return {
    user: { first_name: profile.first_name, email: profile.email },
    activity,
    scope: 'Plugin',
    item_id: String(plugin.id),
    detail: { name: plugin.body.name, changes },
    created_at: at,
  };
}

/** The number of entries in the activity log of an organization. */
export function countActivity({ store }: Call, organizationId: string): number {
  const row = store.database
    .prepare('SELECT count(*) AS count FROM plugin_activity WHERE organization_id = ?')
    .get(organizationId);
  return row === undefined ? 0 : integerIn(row, 'count');
}

/** A page of the activity log of an organization, newest first. */
export function activityOf({ store }: Call, organizationId: string, { limit, offset }: Window): JsonObject[] {
  return store.database
    .prepare('SELECT body FROM plugin_activity WHERE organization_id = ? ORDER BY id DESC LIMIT ? OFFSET ?')
    .all(organizationId, limit, offset)
    .map((row) => parseObject(textIn(row, 'body')));
}
