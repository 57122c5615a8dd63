import { organizationOf } from '../auth.ts';
import { type Answer, type Call, ok } from '../call.ts';
import { integerIn, textIn } from '../database.ts';
import { parseObject, pick } from '../json.ts';
import { activityOf, noteActivity } from './activity.ts';
import { catalog, catalogEntryAt } from './catalog.ts';
import { pluginRequestFields } from './fields.ts';
import { changePlugin, pluginOf, toPlugin } from './plugins.ts';

/** GET …/plugins/{id}/check_for_updates/, which notes the newest version. */
export function checkPluginForUpdates(call: Call): Answer {
  const plugin = pluginOf(call);
  const newest = catalogEntryAt(plugin.body.url)?.latest_tag ?? plugin.body.latest_tag;
  return ok({ plugin: toPlugin(changePlugin(call, plugin, { latest_tag: newest })) });
}

/** POST …/plugins/{id}/upgrade/, which installs the newest version and changes what the body asks for. */
export function upgradePlugin(call: Call): Answer {
  const plugin = pluginOf(call);
  const newest = catalogEntryAt(plugin.body.url)?.latest_tag;
  const version = newest === undefined ? {} : { tag: newest, latest_tag: newest };
  const upgraded = changePlugin(call, plugin, { ...version, ...pick(call.body, pluginRequestFields) });
  noteActivity(call, upgraded, 'upgraded');
  return ok(toPlugin(upgraded));
}

/** GET …/plugins/activity/ */
export function listPluginActivity(call: Call): Answer {
  const results = activityOf(call, organizationOf(call).id);
  return ok({ results, next: null, previous: null, total_count: results.length });
}

/** GET …/plugins/exports_unsubscribe_configs/: the enabled configurations of plugins that export events. */
export function listPluginExportsUnsubscribeConfigs(call: Call): Answer {
  const configs = call.store.database
    .prepare(`
      SELECT plugin_configs.* FROM plugin_configs JOIN plugins ON plugins.id = plugin_id
      WHERE owner = ? AND enabled AND body -> '$.capabilities.methods' LIKE '%"exportEvents"%' ORDER BY plugin_configs.id`)
    .all(organizationOf(call).id);
  return ok(
    configs.map((row) => ({
      id: integerIn(row, 'id'),
      plugin: integerIn(row, 'plugin_id'),
      team_id: integerIn(row, 'project_id'),
      enabled: true,
      config: parseObject(textIn(row, 'config')),
    })),
  );
}

/** GET …/plugins/repository/: what can be installed. */
export function listPluginRepository(call: Call): Answer {
  organizationOf(call);
  return ok(catalog);
}

/** GET …/plugins/unused/: the ids of the plugins that no project has enabled. */
export function listUnusedPlugins(call: Call): Answer {
  const unused = call.store.database
    .prepare(`
      SELECT id FROM plugins
      WHERE owner = ? AND id NOT IN (SELECT plugin_id FROM plugin_configs WHERE enabled) ORDER BY id`)
    .all(organizationOf(call).id);
  return ok(unused.map((row) => integerIn(row, 'id')));
}
