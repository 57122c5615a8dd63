import { toEventQuery } from '../graphql/event-filter.ts';
import type { ProjectResolvers } from '../graphql/generated/resolvers.ts';
import type { RowRecord } from '../graphql/records.ts';
import type { EventQuery, ListRef } from '../rest/pages.ts';
import type { Collection } from '../rest/paths.ts';
import { fetchWithin } from './by-id.ts';
import {
  fetchEventCsv,
  fetchEventRows,
  fetchEventsCsv,
  fetchEventValues,
  fetchEventValuesCsv,
} from './event-tables.ts';
import { eventConnection, listConnection } from './lists.ts';
import { fetchReferred, organizationIn } from './references.ts';

/** The objects that a project refers to, and those below it. Its own fields are columns. */
export const Project: ProjectResolvers = {
  organization: (project, _args, context) => organizationIn(project, 'organization', context),
  primaryDashboard: (project, _args, context, info) =>
    fetchReferred(project, 'primary_dashboard', dashboards(project), context, info),
  dashboards: (project, args, context, info) => listConnection(dashboards(project), args, context, info),
  dashboard: (project, { id }, context, info) => fetchWithin(dashboards(project), id, context, info),
  events: (project, args, context, info) =>
    eventConnection(events(project, toEventQuery(args.filter)), args, context, info),
  event: (project, { id }, context, info) => fetchWithin(events(project), id, context, info),
  eventCsv: (project, { id }, context) => fetchEventCsv(events(project), id, context),
  eventValues: (project, args, context, info) => fetchEventValues(project, args, context, info),
  eventValuesCsv: (project, args, context) => fetchEventValuesCsv(project, args, context),
  eventsCsv: (project, args, context, info) =>
    fetchEventsCsv({ ...events(project, toEventQuery(args.filter, args.select)), table: 'csv' }, args, context, info),
  eventRows: (project, args, context, info) =>
    fetchEventRows({ ...events(project, toEventQuery(args.filter, args.select)), table: 'rows' }, args, context, info),
};

function dashboards({ key }: RowRecord): Collection {
  return { noun: 'Dashboard', scope: key.id };
}

function events({ key }: RowRecord, filter?: EventQuery): ListRef {
  return { noun: 'Event', scope: key.id, filter };
}
