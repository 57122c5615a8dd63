import type { PluginResolvers } from '../graphql/generated/resolvers.ts';
import { answeredWeight } from '../look-ahead/object-weight.ts';
import { namedOrganization, organizationRecord } from './references.ts';

/** What a plugin refers to, and what is read below it; its own fields are columns. */
export const Plugin: PluginResolvers = {
  // A global plugin may be owned by another organization than the one that lists it.
  organization: (plugin, _args, context) => {
    const id = namedOrganization(plugin, 'organization_id') ?? plugin.scope;
    const name = plugin.row['organization_name'];
    return organizationRecord({ id, name: typeof name === 'string' ? name : null }, context);
  },
  source: async ({ key }, _args, { loaders, answer }, info) => {
    answer.take(1, answeredWeight(info), info.path);
    return { body: await loaders.reports.fetchPluginSource(key) };
  },
};
