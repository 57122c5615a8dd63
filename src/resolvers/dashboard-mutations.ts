import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { MutationResolvers } from '../graphql/generated/resolvers.ts';
import { parseIdWithOwner, parseOwnerId } from '../graphql/ids.ts';
import type { RowRecord } from '../graphql/records.ts';
import { toRequestBody } from '../graphql/request-body.ts';
import type { Key } from '../rest/paths.ts';
import type { JsonObject } from '../rest/values.ts';
import { addressed, deletedId, writeRow } from './writes.ts';

type DashboardMutation =
  | 'createDashboard'
  | 'createDashboardFromTemplate'
  | 'updateDashboard'
  | 'moveDashboardTile'
  | 'deleteDashboard'
  | 'restoreDashboard';

/** The mutations of dashboards. Ids are checked, and the body made, before anything is sent. */
export const dashboardMutations: Pick<MutationResolvers, DashboardMutation> = {
  createDashboard: (_root, { input }, context, info) => create(input, context, info),
  createDashboardFromTemplate: (_root, { input }, context, info) =>
    create(input, context, info, 'create_from_template_json'),
  updateDashboard: async (_root, { input }, context, info) => {
    const { key, body } = await changeOf(input, context, info);
    return { dashboard: await change(key, body, context) };
  },
  moveDashboardTile: async (_root, { input }, context, info) => {
    const { key, body } = await changeOf(input, context, info);
    return { dashboard: await change(key, body, context, 'move_tile') };
  },
  // A hard delete is refused by the upstream with 405.
  deleteDashboard: async (_root, { input }, context, info) => {
    const { key, body } = await changeOf(input, context, info);
    const dashboard = await change(key, { deleted: true, ...body }, context);
    return { deletedId: deletedId(key), dashboard };
  },
  // The upstream undeletes only when the body holds nothing else.
  restoreDashboard: async (_root, { input }, context, info) => {
    const { key } = await changeOf(input, context, info);
    return { dashboard: await change(key, { deleted: false }, context) };
  },
};

async function create(
  input: { readonly projectId: string },
  context: GatewayContext,
  info: GraphQLResolveInfo,
  action?: 'create_from_template_json',
): Promise<{ dashboard: RowRecord }> {
  const make = (id: string | null | undefined) => {
    const scope = parseOwnerId('Project', id ?? '', 'projectId');
    return {
      collection: { noun: 'Dashboard', scope } as const,
      body: toRequestBody(input, info, { projectId: scope, reach: context.tenant?.reach }),
    };
  };
  const { collection, body } = await addressed({ type: 'Project', id: input.projectId, input }, make, context, info);
  return { dashboard: await writeRow(collection, context, () => context.rest.createRow(collection, body, action)) };
}

function change(key: Key, body: JsonObject, context: GatewayContext, action?: 'move_tile'): Promise<RowRecord> {
  return writeRow(key, context, () => context.rest.changeRow(key, body, action));
}

/** Which dashboard an input changes, and how. */
function changeOf(
  input: { readonly id: string; readonly projectId?: string | null | undefined },
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<{ readonly key: Key; readonly body: JsonObject }> {
  const make = (projectId: string | null | undefined) => {
    const key = parseIdWithOwner('Dashboard', input.id, projectId, 'projectId');
    return { key, body: toRequestBody(input, info, { projectId: key.scope, reach: context.tenant?.reach }) };
  };
  return addressed({ type: 'Project', id: input.projectId, input }, make, context, info);
}
