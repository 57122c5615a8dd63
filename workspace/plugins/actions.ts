import { organizationOf } from '../auth.ts';
import { type Answer, type Call, ok } from '../call.ts';
import { integerIn, textIn } from '../database.ts';
import { invalid } from '../errors.ts';
import { parseObject, pick } from '../json.ts';
import { linksOf, windowOf } from '../pages.ts';
import { activityOf, countActivity, noteActivity } from './activity.ts';
import { catalog, catalogEntryAt } from './catalog.ts';
import { pluginRequestFields } from './fields.ts';
import { publishedFiles, writeFiles } from './files.ts';
import { changePlugin, ownPluginOf, pluginOf, toPlugin } from './plugins.ts';

/** GET …/plugins/{id}/check_for_updates/, which notes the newest version. */
export function checkPluginForUpdates(call: Call): Answer {
  const plugin = pluginOf(call);
  const newest = catalogEntryAt(plugin.body.url)?.latest_tag ?? plugin.body.latest_tag;
  return ok({ plugin: toPlugin(changePlugin(call, plugin, { latest_tag: newest }).plugin) });
}

/**
 * POST …/plugins/{id}/upgrade/, which installs the newest version and changes what the body asks for. A plugin whose files
 * are written here or lie on the machine has no versions, and is refused.
 */
export function upgradePlugin(call: Call): Answer {
  const plugin = ownPluginOf(call);
  const { plugin_type: type, url } = plugin.body;
  if (type === 'local' || type === 'source')
    throw invalid('plugin_type', `A ${type} plugin has no versions to upgrade to.`);
  const entry = catalogEntryAt(url);
  const version = entry === undefined ? {} : { tag: entry.latest_tag, latest_tag: entry.latest_tag };
  if (entry !== undefined) writeFiles(call.store, plugin.id, publishedFiles(entry, entry.latest_tag));
  const changed = changePlugin(call, plugin, { ...version, ...pick(call.body, pluginRequestFields) });
  noteActivity(call, changed.plugin, 'upgraded', changed.changes);
  return ok(toPlugin(changed.plugin));
}

/**
 * GET …/plugins/activity/, in pages. The document lists no parameters for it, so that `limit` and `offset`, by which its links
 * go on as those of other lists do, are read from the URL.
 */
export function listPluginActivity(call: Call): Answer {
  const { id } = organizationOf(call);
  const window = windowOf({ ...call, query: Object.fromEntries(call.url.searchParams) });
  const count = countActivity(call, id);
  return ok({ results: activityOf(call, id, window), ...linksOf(call, window, count), total_count: count });
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
