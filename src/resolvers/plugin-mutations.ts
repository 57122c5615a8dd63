import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { MutationResolvers, UpdatePluginSourcePayloadResolvers } from '../graphql/generated/resolvers.ts';
import { pluginIn } from '../graphql/plugin-results.ts';
import { type PluginActionSource, type RowRecord, toRecord } from '../graphql/records.ts';
import type { PluginAction } from '../rest/api.ts';
import { fetchRecord } from './by-id.ts';
import { answeredFiles } from './plugin-reports.ts';
import { changeRow, createRow, deletedId, prepareChange, write } from './writes.ts';

type PluginMutation =
  | 'createPlugin'
  | 'updatePlugin'
  | 'deletePlugin'
  | 'updatePluginSource'
  | 'upgradePlugin'
  | 'checkPluginForUpdates';

/** The mutations of plugins. Ids are checked, and the body made, before anything is sent. */
export const pluginMutations: Pick<MutationResolvers, PluginMutation> = {
  createPlugin: async (_root, { input }, context, info) => ({
    plugin: await createRow('Plugin', input, context, info),
  }),
  updatePlugin: async (_root, { input }, context, info) => ({
    plugin: await changeRow('Plugin', input, context, info),
  }),
  deletePlugin: async (_root, { input }, context, info) => {
    const { key } = await prepareChange('Plugin', input, context, info);
    await write(context, () => context.rest.deleteRow(key));
    return { deletedId: deletedId(key) };
  },
  updatePluginSource: (_root, { input }, context, info) => act('update_source', input, context, info),
  upgradePlugin: (_root, { input }, context, info) => act('upgrade', input, context, info),
  checkPluginForUpdates: (_root, { input }, context, info) => act('check_for_updates', input, context, info),
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

/** The payload of a change of source code. */
export const SourcePayload = {
  ...ActionPayload,
  files: ({ body }: PluginActionSource, _args: object, context: GatewayContext, info: GraphQLResolveInfo) =>
    answeredFiles(body, context, info),
} satisfies UpdatePluginSourcePayloadResolvers;

async function act(
  action: PluginAction,
  input: object,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<PluginActionSource> {
  const { key, body } = await prepareChange('Plugin', input, context, info);
  const answer = await write(context, () => context.rest.actOnPlugin(key, action, body));
  const row = pluginIn(answer);
  if (row === undefined) return { key, plugin: null, body: answer };
  const plugin = toRecord(key, { row, view: 'detail' });
  context.loaders.store.learn(plugin.key, { row, view: 'detail' });
  return { key, plugin, body: answer };
}
