import type { PluginResolvers } from '../graphql/generated/resolvers.ts';
import { toGlobalId } from '../graphql/ids.ts';
import { toPluginResult } from '../graphql/plugin-results.ts';
import { fetchOrganization } from './references.ts';

export const Plugin: PluginResolvers = {
  id: ({ scope, id }) => toGlobalId({ type: 'Plugin', scope, id }),
  upstreamId: ({ id }) => id,
  // A global plugin may be owned by another organization than the one that lists it.
  organization: async (plugin, _args, context) =>
    (await fetchOrganization(plugin, 'organization_id', context)) ?? { kind: 'Organization', id: plugin.scope },
  updateCheck: async ({ key }, _args, { rest }) =>
    toPluginResult(key.scope, await rest.fetchPluginReport(key, 'check_for_updates')),
  source: async ({ key }, _args, { rest }) => toPluginResult(key.scope, await rest.fetchPluginReport(key, 'source')),
};
