import type { PluginResolvers } from '../graphql/generated/resolvers.ts';
import { toPluginResult } from '../graphql/plugin-results.ts';
import { organizationIn } from './references.ts';

export const Plugin: PluginResolvers = {
  // A global plugin may be owned by another organization than the one that lists it.
  organization: (plugin) => organizationIn(plugin, 'organization_id') ?? { kind: 'Organization', id: plugin.scope },
  updateCheck: async ({ key }, _args, { rest }) =>
    toPluginResult(key.scope, await rest.fetchPluginReport(key, 'check_for_updates')),
  source: async ({ key }, _args, { rest }) => toPluginResult(key.scope, await rest.fetchPluginReport(key, 'source')),
};
