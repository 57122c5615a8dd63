import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { MutationResolvers } from '../graphql/generated/resolvers.ts';
import { parseIdWithOwner, parseOwnerId } from '../graphql/ids.ts';
import { toPluginResult } from '../graphql/plugin-results.ts';
import type { PluginActionSource, RowRecord } from '../graphql/records.ts';
import { toRequestBody } from '../graphql/request-body.ts';
import type { Key } from '../rest/paths.ts';
import type { JsonObject } from '../rest/values.ts';
import { fetchRecord } from './by-id.ts';
import { addressed, deletedId, write, writeRow } from './writes.ts';

type PluginMutation = 'createPlugin' | 'updatePlugin' | 'deletePlugin' | 'updatePluginSource' | 'upgradePlugin';

interface PluginInput {
  readonly id: string;
  readonly organizationId?: string | null | undefined;
}

/** The mutations of plugins. Ids are checked, and the body made, before anything is sent. */
export const pluginMutations: Pick<MutationResolvers, PluginMutation> = {
  createPlugin: async (_root, { input }, context, info) => {
    const make = (id: string | null | undefined) => {
      const scope = parseOwnerId('Organization', id ?? '', 'organizationId');
      return { collection: { kind: 'Plugin', scope } as const, body: toRequestBody(input, info) };
    };
    const owner = { type: 'Organization', id: input.organizationId, input } as const;
    const { collection, body } = await addressed(owner, make, context, info);
    return { plugin: await writeRow(collection, context, () => context.rest.createRow(collection, body)) };
  },
  updatePlugin: async (_root, { input }, context, info) => {
    const { key, body } = await changeOf(input, context, info);
    return { plugin: await writeRow(key, context, () => context.rest.changeRow(key, body)) };
  },
  deletePlugin: async (_root, { input }, context, info) => {
    const { key } = await changeOf(input, context, info);
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
  const { key, body } = await changeOf(input, context, info);
  const answer = await write(context, () => context.rest.actOnPlugin(key, action, body));
  const { plugin } = toPluginResult(key.scope, answer);
  if (plugin !== null) context.loaders.store.learn(plugin.key, { row: plugin.row, view: 'detail' });
  return { key, plugin, body: answer };
}

/** Which plugin an input changes, and how. */
function changeOf(
  input: PluginInput,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<{ readonly key: Key; readonly body: JsonObject }> {
  const make = (organizationId: string | null | undefined) => ({
    key: parseIdWithOwner('Plugin', input.id, organizationId, 'organizationId'),
    body: toRequestBody(input, info),
  });
  return addressed({ type: 'Organization', id: input.organizationId, input }, make, context, info);
}
