import type { PluginActionResultResolvers, PluginResolvers } from '../graphql/generated/resolvers.ts';
import { toPluginResult } from '../graphql/plugin-results.ts';
import { answeredRecord } from './by-id.ts';
import { organizationIn } from './references.ts';

/** What a plugin refers to, and what is read below it; its own fields are columns. */
export const Plugin: PluginResolvers = {
  // A global plugin may be owned by another organization than the one that lists it.
  organization: (plugin) => {
    const { id } = organizationIn(plugin, 'organization_id') ?? { id: plugin.scope };
    const name = plugin.row['organization_name'];
    return { kind: 'Organization', id, name: typeof name === 'string' ? name : null };
  },
  updateCheck: async ({ key }, _args, { loaders }) =>
    toPluginResult(key.scope, await loaders.reports.fetchPluginReport(key, 'check_for_updates')),
  source: async ({ key }, _args, { loaders }) =>
    toPluginResult(key.scope, await loaders.reports.fetchPluginReport(key, 'source')),
};

/** What a read below plugins answered, and the plugin in it. */
export const PluginActionResult: PluginActionResultResolvers = {
  plugin: ({ plugin }, _args, context, info) => answeredRecord(plugin, context, info),
};
