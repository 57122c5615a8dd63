import type { DashboardResolvers } from '../graphql/generated/resolvers.ts';
import { fetchRecord } from './by-id.ts';
import { fetchReferred } from './references.ts';

/** The objects that a dashboard refers to. Its own fields are columns. */
export const Dashboard: DashboardResolvers = {
  project: ({ scope }, _args, context, info) =>
    fetchRecord({ noun: 'Project', scope: '', id: scope }, 'assumed', context, info),
  useDashboard: (dashboard, _args, context, info) =>
    fetchReferred(dashboard, 'use_dashboard', { noun: 'Dashboard', scope: dashboard.scope }, context, info),
};
