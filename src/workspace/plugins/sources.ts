import { type Answer, type Call, ok } from '../call.ts';
import { textIn } from '../database.ts';
import { invalid } from '../errors.ts';
import { pick } from '../json.ts';
import { noteActivity } from './activity.ts';
import { pluginRequestFields } from './fields.ts';
import { changePlugin, pluginOf } from './plugins.ts';

/** GET …/plugins/{id}/source/: a map from the name of a file to its text. */
export function getPluginSource(call: Call): Answer {
  return ok(filesOf(call, pluginOf(call).id));
}

/**
 * PATCH …/plugins/{id}/update_source/, which takes and answers such a map; null deletes a file. Names of plugin request
 * fields, which the contract shows in this place, change the plugin instead.
 */
export function updatePluginSource(call: Call): Answer {
  const plugin = pluginOf(call);
  const fields = pick(call.body, pluginRequestFields);
  for (const [name, content] of Object.entries(call.body)) {
    if (!Object.hasOwn(fields, name)) writeFile(call, plugin.id, name, content);
  }
  noteActivity(call, changePlugin(call, plugin, fields), 'source_updated');
  return ok(filesOf(call, plugin.id));
}

function writeFile({ store }: Call, pluginId: number, name: string, content: unknown): void {
  if (content === null) {
    store.database.prepare('DELETE FROM plugin_sources WHERE plugin_id = ? AND name = ?').run(pluginId, name);
  } else if (typeof content === 'string') {
    store.database.prepare('REPLACE INTO plugin_sources VALUES (?, ?, ?)').run(pluginId, name, content);
  } else {
    throw invalid(name, 'Not a valid string.');
  }
}

function filesOf({ store }: Call, pluginId: number): Record<string, string> {
  const files = store.database
    .prepare('SELECT name, content FROM plugin_sources WHERE plugin_id = ? ORDER BY name')
    .all(pluginId);
  return Object.fromEntries(files.map((row) => [textIn(row, 'name'), textIn(row, 'content')]));
}
