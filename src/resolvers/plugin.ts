import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { onlyText, toDateTime, toId, toText, toUser } from '../graphql/column-conversions.ts';
import type {
  MutationResolvers,
  PluginActivityEntryResolvers,
  PluginActivityResolvers,
  PluginFile,
  PluginRepositoryEntryResolvers,
  PluginResolvers,
  PluginSourceResolvers,
  UpdatePluginSourcePayloadResolvers,
} from '../graphql/generated/resolvers.ts';
import { entriesIn, filesIn, pluginIn } from '../graphql/plugin-results.ts';
import type { PluginActionSource, RowRecord } from '../graphql/records.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import type { PluginAction } from '../rest/api.ts';
import { nextQueryOf } from '../rest/pages.ts';
import { isObject, naturalNumber } from '../rest/values.ts';
import { fetchRecord } from './by-id.ts';
import { namedOrganization, organizationRecord } from './organization.ts';
import { changeRow, createRow, deletedId, prepareWrite, write, writtenRecord } from './writes.ts';

/** The fields of a plugin that are no columns: its organization, and its source code. */
export const Plugin: PluginResolvers = {
  // A global plugin may be owned by another organization than the one that lists it.
  organization: (plugin, _args, context) => {
    const id = namedOrganization(plugin, 'organization_id') ?? plugin.scope;
    const name = plugin.row['organization_name'];
    return organizationRecord({ id, name: typeof name === 'string' ? name : null }, context);
  },
  source: async ({ key }, _args, context, info) => {
    countAnswered(1, context, info);
    return { body: await context.loaders.memoized.fetchPluginSource(key) };
  },
};

/** The mutations of plugins. Ids are checked, and the body made, before anything is sent. */
export const pluginMutations: MutationResolvers = {
  createPlugin: async (_root, { input }, context, info) => ({
    plugin: await createRow('Plugin', input, context, info),
  }),
  updatePlugin: async (_root, { input }, context, info) => ({
    plugin: await changeRow('Plugin', input, context, info),
  }),
  deletePlugin: async (_root, { input }, context, info) => {
    const { key } = await prepareWrite({ noun: 'Plugin', isNew: false, input }, context, info);
    await write(context, () => context.rest.deleteRow(key));
    return { deletedId: deletedId(key) };
  },
  updatePluginSource: (_root, { input }, context, info) => runAction('update_source', input, context, info),
  upgradePlugin: (_root, { input }, context, info) => runAction('upgrade', input, context, info),
  checkPluginForUpdates: (_root, { input }, context, info) => runAction('check_for_updates', input, context, info),
};

/** The payload of an action. If the upstream's answer lacks the plugin, the plugin is read when it is selected. */
export const ActionPayload = {
  plugin: async (
    { key, plugin }: PluginActionSource,
    _args: object,
    context: GatewayContext,
    info: GraphQLResolveInfo,
  ): Promise<RowRecord | null> => plugin ?? fetchRecord(key, 'assumed', context, info),
};

export const SourcePayload = {
  ...ActionPayload,
  files: ({ body }: PluginActionSource, _args: object, context: GatewayContext, info: GraphQLResolveInfo) =>
    answeredFiles(body, context, info),
} satisfies UpdatePluginSourcePayloadResolvers;

async function runAction(
  action: PluginAction,
  input: object,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<PluginActionSource> {
  const { key, body } = await prepareWrite({ noun: 'Plugin', isNew: false, input }, context, info);
  const answer = await write(context, () => context.rest.actOnPlugin(key, action, body));
  const row = pluginIn(answer);
  return { key, plugin: row === undefined ? null : writtenRecord(key, row, context), body: answer };
}

/** The source code of a plugin. */
export const PluginSource: PluginSourceResolvers = {
  files: ({ body }, _args, context, info) => answeredFiles(body, context, info),
};

function answeredFiles(body: unknown, context: GatewayContext, info: GraphQLResolveInfo): PluginFile[] | null {
  const files = filesIn(body);
  if (files !== null) countAnswered(files.length, context, info);
  return files;
}

/** A page of an activity log. */
export const PluginActivity: PluginActivityResolvers = {
  entries: ({ body }, _args, context, info) => {
    const entries = entriesIn(body);
    if (entries !== null) countAnswered(entries.length, context, info);
    return entries;
  },
  hasNextPage: ({ body }) => nextQueryOf(body) !== undefined,
  endCursor: ({ body }, _args, { cursors }) => {
    const query = nextQueryOf(body);
    return query === undefined ? null : cursors.encodeQuery('activity', query);
  },
  totalCount: ({ body }) => (isObject(body) ? naturalNumber(body['total_count']) : null),
};

/** An entry of an activity log. */
export const PluginActivityEntry: PluginActivityEntryResolvers = {
  activity: ({ activity }) => member(activity, toText),
  createdAt: ({ created_at: createdAt }) => member(createdAt, toDateTime),
  user: ({ user }) => member(user, toUser),
  scope: ({ scope }) => member(scope, toText),
  itemId: ({ item_id: itemId }) => member(itemId, toId),
  detail: ({ detail }) => detail,
  body: (entry) => entry,
};

/** A plugin of the repository. */
export const PluginRepositoryEntry: PluginRepositoryEntryResolvers = {
  name: ({ name }) => member(name, toText),
  description: ({ description }) => member(description, toText),
  url: ({ url }) => member(url, onlyText),
  icon: ({ icon }) => member(icon, onlyText),
  maintainer: ({ maintainer }) => member(maintainer, toText),
  latestTag: ({ latest_tag: latestTag }) => member(latestTag, toText),
  body: (entry) => entry,
};

/** A member of an entry, converted for its field; null if the entry lacks it. Throws if its type is wrong. */
function member<T>(value: unknown, convert: (value: unknown) => T | Error): T | null {
  if (value === undefined || value === null) return null;
  const converted = convert(value);
  if (converted instanceof Error) throw converted;
  return converted;
}
