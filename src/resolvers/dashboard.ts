import type { DashboardResolvers, MutationResolvers } from '../graphql/generated/resolvers.ts';
import { fetchRecord, fetchReferred } from './by-id.ts';
import { changeRow, createRow, deletedId, prepareWrite, writeRow } from './writes.ts';

/** The fields of a dashboard that are no columns. Columns need no resolver. */
export const Dashboard: DashboardResolvers = {
  project: ({ scope }, _args, context, info) =>
    fetchRecord({ noun: 'Project', scope: '', id: scope }, 'assumed', context, info),
  useDashboard: (dashboard, _args, context, info) =>
    fetchReferred(dashboard, 'use_dashboard', { noun: 'Dashboard', scope: dashboard.scope }, context, info),
};

/** The mutations of dashboards. Ids are checked, and the body made, before anything is sent. */
export const dashboardMutations: MutationResolvers = {
  createDashboard: async (_root, { input }, context, info) => ({
    dashboard: await createRow('Dashboard', input, context, info),
  }),
  createDashboardFromTemplate: async (_root, { input }, context, info) => ({
    dashboard: await createRow('Dashboard', input, context, info, 'create_from_template_json'),
  }),
  updateDashboard: async (_root, { input }, context, info) => ({
    dashboard: await changeRow('Dashboard', input, context, info),
  }),
  moveDashboardTile: async (_root, { input }, context, info) => ({
    dashboard: await changeRow('Dashboard', input, context, info, 'move_tile'),
  }),
  // A hard delete is refused by the upstream with 405.
  deleteDashboard: async (_root, { input }, context, info) => {
    const { key, body } = await prepareWrite({ noun: 'Dashboard', isNew: false, input }, context, info);
    const dashboard = await writeRow(key, context, () => context.rest.changeRow(key, { deleted: true, ...body }));
    return { deletedId: deletedId(key), dashboard };
  },
  // The upstream undeletes only if the body holds nothing else.
  restoreDashboard: async (_root, { input }, context, info) => {
    const { key } = await prepareWrite({ noun: 'Dashboard', isNew: false, input }, context, info);
    return { dashboard: await writeRow(key, context, () => context.rest.changeRow(key, { deleted: false })) };
  },
};
