import type { PluginResolvers } from '../graphql/generated/resolvers.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { namedOrganization, organizationRecord } from './references.ts';

/** The objects that a plugin refers to, and those below it. Its own fields are columns. */
export const Plugin: PluginResolvers = {
  // A global plugin may be owned by another organization than the one that lists it.
  organization: (plugin, _args, context) => {
    const id = namedOrganization(plugin, 'organization_id') ?? plugin.scope;
    const name = plugin.row['organization_name'];
    return organizationRecord({ id, name: typeof name === 'string' ? name : null }, context);
  },
  source: async ({ key }, _args, context, info) => {
    countAnswered(1, context, info);
    return { body: await context.loaders.reports.fetchPluginSource(key) };
  },
};
