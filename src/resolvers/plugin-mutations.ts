import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { MutationResolvers } from '../graphql/generated/resolvers.ts';
import { parseIdWithOwner, parseOwnerId } from '../graphql/ids.ts';
import { toPluginResult } from '../graphql/plugin-results.ts';
import type { PluginActionSource, RowRecord } from '../graphql/records.ts';
import { toRequestBody } from '../graphql/request-body.ts';
import type { Key } from '../rest/paths.ts';
import { fetchRecord } from './by-id.ts';
import { deletedId, write, writeRow } from './writes.ts';

type PluginMutation = 'createPlugin' | 'updatePlugin' | 'deletePlugin' | 'updatePluginSource' | 'upgradePlugin';

interface PluginInput {
  readonly id: string;
  readonly organizationId?: string | null | undefined;
}

/** The mutations of plugins. Ids are checked, and the body made, before anything is sent. */
export const pluginMutations: Pick<MutationResolvers, PluginMutation> = {
  createPlugin: async (_root, { input }, context, info) => {
    const organizationId = parseOwnerId('Organization', input.organizationId, 'organizationId');
    const body = toRequestBody(input, info);
    const collection = { kind: 'Plugin', scope: organizationId } as const;
    return { plugin: await writeRow(collection, context, () => context.rest.createRow(collection, body)) };
  },
  updatePlugin: async (_root, { input }, context, info) => {
    const key = keyOf(input);
    const body = toRequestBody(input, info);
    return { plugin: await writeRow(key, context, () => context.rest.changeRow(key, body)) };
  },
  deletePlugin: async (_root, { input }, context) => {
    const key = keyOf(input);
    await write(context, () => context.rest.deleteRow(key));
    return { deletedId: deletedId(key) };
  },
  updatePluginSource: (_root, { input }, context, info) => act('update_source', input, context, info),
  upgradePlugin: (_root, { input }, context, info) => act('upgrade', input, context, info),
};

/** The payload of an action: where the upstream did not answer the plugin, it is read when it is asked for. */
export const ActionPayload = {
  plugin: async (
    { key, plugin }: PluginActionSource,
    _args: object,
    context: GatewayContext,
    info: GraphQLResolveInfo,
  ): Promise<RowRecord | null> => plugin ?? fetchRecord(key, 'assumed', context, info),
};

async function act(
  action: 'update_source' | 'upgrade',
  input: PluginInput,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<PluginActionSource> {
  const key = keyOf(input);
  const body = toRequestBody(input, info);
  const answer = await write(context, () => context.rest.actOnPlugin(key, action, body));
  const { plugin } = toPluginResult(key.scope, answer);
  if (plugin !== null) context.loaders.store.learn(plugin.key, { row: plugin.row, view: 'detail' });
  return { key, plugin, body: answer };
}

function keyOf({ id, organizationId }: PluginInput): Key {
  return parseIdWithOwner('Plugin', id, organizationId, 'organizationId');
}
