import { fetchEvents, pageSizeOf } from '../graphql/connections.ts';
import { toEventQuery } from '../graphql/event-filter.ts';
import type { ProjectResolvers } from '../graphql/generated/resolvers.ts';
import { parseIdWithin, toGlobalId } from '../graphql/ids.ts';
import type { ListRef } from '../rest/pages.ts';
import { fetchRecord } from './by-id.ts';
import { listConnection } from './lists.ts';
import { fetchOrganization, fetchReferred } from './references.ts';

export const Project: ProjectResolvers = {
  id: ({ id }) => toGlobalId({ type: 'Project', scope: '', id }),
  upstreamId: ({ id }) => id,
  organization: (project, _args, context) => fetchOrganization(project, 'organization', context),
  primaryDashboard: (project, _args, context, info) =>
    fetchReferred(project, 'primary_dashboard', { kind: 'Dashboard', scope: project.id }, context, info),
  dashboards: ({ id }, args, context, info) => listConnection({ kind: 'Dashboard', scope: id }, args, context, info),
  dashboard: (project, { id }, context, info) =>
    fetchRecord(parseIdWithin({ kind: 'Dashboard', scope: project.id }, id, 'id'), 'unknown', context, info),
  events: ({ id }, args, context) => fetchEvents(context, events(id, toEventQuery(args.filter)), args),
  event: (project, { id }, context, info) =>
    fetchRecord(parseIdWithin(events(project.id), id, 'id'), 'unknown', context, info),
  eventValues: ({ id }, { key, eventName }, { rest }) => rest.fetchEventValues(id, key, eventName ?? undefined),
  eventsCsv: ({ id }, { first, filter }, { rest, maxPageSize }) =>
    rest.fetchCsv(events(id, toEventQuery(filter)), pageSizeOf('first', first, maxPageSize)),
  eventRows: async ({ id }, { select, first, filter }, { rest, maxPageSize }) => [
    ...(await rest.fetchSelected(events(id, toEventQuery(filter, select)), pageSizeOf('first', first, maxPageSize))),
  ],
};

function events(projectId: string, filter?: ListRef['filter']): ListRef {
  return { kind: 'Event', scope: projectId, filter };
}
