import { type Answer, type Call, ok } from '../call.ts';
import { invalid } from '../errors.ts';
import { type JsonObject, pick } from '../json.ts';
import { type Change, noteActivity } from './activity.ts';
import { pluginRequestFields } from './fields.ts';
import { filesOf, writeFiles } from './files.ts';
import { changePlugin, ownPluginOf, pluginOf } from './plugins.ts';

/** GET …/plugins/{id}/source/: a map from the name of a file to its text. */
export function getPluginSource(call: Call): Answer {
  return ok(filesOf(call.store, pluginOf(call).id));
}

/**
 * PATCH …/plugins/{id}/update_source/, which takes and answers such a map; null deletes a file. Names of plugin request
 * fields, which the contract shows in this place, change the plugin instead.
 */
export function updatePluginSource(call: Call): Answer {
  const plugin = ownPluginOf(call);
  const fields = pick(call.body, pluginRequestFields);
  const files = toFiles(call.body, fields);
  const { plugin: changed, changes } = changePlugin(call, plugin, fields);
  const known = filesOf(call.store, plugin.id);
  writeFiles(call.store, plugin.id, files);
  noteActivity(call, changed, 'source_updated', [...changes, ...changesOf(files, known)]);
  return ok(filesOf(call.store, plugin.id));
}

function toFiles(body: JsonObject, fields: JsonObject): Record<string, string | null> {
  const files = Object.entries(body).filter(([name]) => !Object.hasOwn(fields, name));
  return Object.fromEntries(
    files.map(([name, content]) => {
      if (content !== null && typeof content !== 'string') throw invalid(name, 'Not a valid string.');
      return [name, content];
    }),
  );
}

/** Which files change; their texts are not kept in the log. */
function changesOf(files: Readonly<Record<string, string | null>>, known: JsonObject): Change[] {
  return Object.entries(files).map(([name, content]) => {
    const action = content === null ? 'deleted' : Object.hasOwn(known, name) ? 'changed' : 'created';
    return { type: 'PluginSourceFile', action, field: name };
  });
}
