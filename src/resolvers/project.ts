import { pageSizeOf } from '../graphql/connections.ts';
import { queryText, toEventQuery } from '../graphql/event-filter.ts';
import type { ProjectResolvers } from '../graphql/generated/resolvers.ts';
import type { RowRecord } from '../graphql/records.ts';
import type { EventQuery, ListRef } from '../rest/pages.ts';
import type { Collection } from '../rest/paths.ts';
import { fetchWithin } from './by-id.ts';
import { eventConnection, listConnection } from './lists.ts';
import { fetchReferred, organizationIn } from './references.ts';

/** What a project refers to, and what is read below it; its own fields are columns. */
export const Project: ProjectResolvers = {
  organization: (project) => organizationIn(project, 'organization'),
  primaryDashboard: (project, _args, context, info) =>
    fetchReferred(project, 'primary_dashboard', dashboards(project), context, info),
  dashboards: (project, args, context, info) => listConnection(dashboards(project), args, context, info),
  dashboard: (project, { id }, context, info) => fetchWithin(dashboards(project), id, context, info),
  events: (project, args, context, info) =>
    eventConnection(events(project, toEventQuery(args.filter)), args, context, info),
  event: (project, { id }, context, info) => fetchWithin(events(project), id, context, info),
  eventValues: (project, { key, eventName }, { loaders, answer }) => {
    answer.takeValue();
    const name = queryText('eventName', eventName);
    return loaders.reports.fetchEventValues(project.key.id, queryText('key', key), name);
  },
  eventsCsv: (project, { first, filter }, { loaders, answer, maxPageSize }) => {
    answer.takeValue();
    return loaders.reports.fetchCsv(events(project, toEventQuery(filter)), pageSizeOf('first', first, maxPageSize));
  },
  eventRows: async (project, { select, first, filter }, { loaders, answer, maxPageSize }) => {
    answer.takeValue();
    const list = events(project, toEventQuery(filter, select));
    return [...(await loaders.reports.fetchSelected(list, pageSizeOf('first', first, maxPageSize)))];
  },
};

function dashboards({ key }: RowRecord): Collection {
  return { kind: 'Dashboard', scope: key.id };
}

function events({ key }: RowRecord, filter?: EventQuery): ListRef {
  return { kind: 'Event', scope: key.id, filter };
}
