import type { PluginResolvers } from '../graphql/generated/resolvers.ts';
import { answeredWeight } from '../look-ahead/object-weight.ts';
import { organizationIn } from './references.ts';

/** What a plugin refers to, and what is read below it; its own fields are columns. */
export const Plugin: PluginResolvers = {
  // A global plugin may be owned by another organization than the one that lists it.
  organization: (plugin) => {
    const { id } = organizationIn(plugin, 'organization_id') ?? { id: plugin.scope };
    const name = plugin.row['organization_name'];
    return { noun: 'Organization', id, name: typeof name === 'string' ? name : null };
  },
  source: async ({ key }, _args, { loaders, answer }, info) => {
    answer.take(1, answeredWeight(info), info.path);
    return { body: await loaders.reports.fetchPluginSource(key) };
  },
};
