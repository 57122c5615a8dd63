import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { MutationResolvers } from '../graphql/generated/resolvers.ts';
import { parseIdWithOwner, parseOwnerId } from '../graphql/ids.ts';
import type { RowRecord } from '../graphql/records.ts';
import { toRequestBody } from '../graphql/request-body.ts';
import type { Key } from '../rest/paths.ts';
import type { JsonObject } from '../rest/values.ts';
import { deletedId, writeRow } from './writes.ts';

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
    const key = keyOf(input);
    return { dashboard: await change(key, toRequestBody(input, info, key.scope), context) };
  },
  moveDashboardTile: async (_root, { input }, context, info) => {
    const key = keyOf(input);
    return { dashboard: await change(key, toRequestBody(input, info, key.scope), context, 'move_tile') };
  },
  // A hard delete is refused by the upstream with 405.
  deleteDashboard: async (_root, { input }, context) => {
    const key = keyOf(input);
    return { deletedId: deletedId(key), dashboard: await change(key, { deleted: true }, context) };
  },
  // The upstream undeletes only when the body holds nothing else.
  restoreDashboard: async (_root, { input }, context) => ({
    dashboard: await change(keyOf(input), { deleted: false }, context),
  }),
};

async function create(
  input: { readonly projectId: string },
  context: GatewayContext,
  info: GraphQLResolveInfo,
  action?: 'create_from_template_json',
): Promise<{ dashboard: RowRecord }> {
  const projectId = parseOwnerId('Project', input.projectId, 'projectId');
  const body = toRequestBody(input, info, projectId);
  const collection = { kind: 'Dashboard', scope: projectId } as const;
  return { dashboard: await writeRow(collection, context, () => context.rest.createRow(collection, body, action)) };
}

function change(key: Key, body: JsonObject, context: GatewayContext, action?: 'move_tile'): Promise<RowRecord> {
  return writeRow(key, context, () => context.rest.changeRow(key, body, action));
}

function keyOf({ id, projectId }: { readonly id: string; readonly projectId?: string | null | undefined }): Key {
  return parseIdWithOwner('Dashboard', id, projectId, 'projectId');
}
