import { tableWindowOf } from '../graphql/connections.ts';
import { queryText, toEventQuery } from '../graphql/event-filter.ts';
import type { MutationResolvers, ProjectEventValuesArgs, ProjectResolvers } from '../graphql/generated/resolvers.ts';
import { parseIdWithin } from '../graphql/ids.ts';
import { type RowRecord, toRecord } from '../graphql/records.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import type { ValuesQuery } from '../rest/api.ts';
import { undefinedIfAbsent } from '../rest/errors.ts';
import type { EventQuery, ListRef } from '../rest/pages.ts';
import type { Collection } from '../rest/paths.ts';
import { isObject } from '../rest/values.ts';
import { fetchReferred, fetchWithin } from './by-id.ts';
import { confirmOwner } from './current-owner.ts';
import { listConnection } from './list-fields.ts';
import { namedOrganization, organizationRecord } from './organization.ts';
import { changeRow, createRow, deletedId, prepareWrite, write } from './writes.ts';

/** The fields of a project that are no columns: objects that it refers to, and what is below it. */
export const Project: ProjectResolvers = {
  organization: (project, _args, context) => {
    const id = namedOrganization(project, 'organization');
    return id === undefined ? null : organizationRecord({ id }, context);
  },
  primaryDashboard: (project, _args, context, info) =>
    fetchReferred(project, 'primary_dashboard', dashboardsOf(project), context, info),
  dashboards: (project, args, context, info) => listConnection(dashboardsOf(project), args, context, info),
  dashboard: (project, { id }, context, info) => fetchWithin(dashboardsOf(project), id, context, info),
  events: (project, args, context, info) =>
    listConnection(eventsOf(project, toEventQuery(args.filter)), args, context, info),
  event: (project, { id }, context, info) => fetchWithin(eventsOf(project), id, context, info),
  eventCsv: async (project, { id }, context) => {
    context.answerCounter.addValue();
    const key = parseIdWithin(eventsOf(project), id, 'id');
    if (key.scope !== project.key.id) await confirmOwner(key, 'id', context);
    return context.loaders.memoized.fetchEventCsv(key).catch(undefinedIfAbsent);
  },
  eventValues: async ({ key }, args, context, info) => {
    countAnswered(1, context, info);
    return { body: await context.loaders.memoized.fetchEventValues(key.id, valuesQuery(args)) };
  },
  eventValuesCsv: async ({ key }, args, { loaders, answerCounter }) => {
    answerCounter.addValue();
    return loaders.memoized.fetchEventValuesCsv(key.id, valuesQuery(args));
  },
  eventsCsv: async (project, args, context, info) => {
    countAnswered(1, context, info);
    const list: ListRef = { ...eventsOf(project, toEventQuery(args.filter, args.select)), form: 'csv' };
    const { at, limit } = tableWindowOf(list, args, context);
    return { list, page: await context.loaders.memoized.fetchCsv(list, at, limit) };
  },
  eventRows: async (project, args, context, info) => {
    countAnswered(1, context, info);
    const list: ListRef = { ...eventsOf(project, toEventQuery(args.filter, args.select)), form: 'rows' };
    const { at, limit } = tableWindowOf(list, args, context);
    return { list, page: await context.loaders.memoized.fetchSelected(list, at, limit) };
  },
};

/** The mutations of projects. Ids are checked, and the body made, before anything is sent. */
export const projectMutations: MutationResolvers = {
  createProject: async (_root, { input }, context, info) => ({
    project: await createRow('Project', input, context, info),
  }),
  updateProject: async (_root, { input }, context, info) => ({
    project: await changeRow('Project', input, context, info),
  }),
  deleteProject: async (_root, { input }, context, info) => {
    const { key } = await prepareWrite({ noun: 'Project', isNew: false, input }, context, info);
    const row = await write(context, () => context.rest.deleteRow(key));
    const project = isObject(row) ? toRecord(key, { id: key.id, row, view: 'detail' }) : null;
    return { deletedId: deletedId(key), project };
  },
};

function dashboardsOf({ key }: RowRecord): Collection {
  return { noun: 'Dashboard', scope: key.id };
}

function eventsOf({ key }: RowRecord, filter?: EventQuery): ListRef {
  return { noun: 'Event', scope: key.id, filter };
}

function valuesQuery({ key, eventName }: Pick<ProjectEventValuesArgs, 'key' | 'eventName'>): ValuesQuery {
  return { key: queryText('key', key), event_name: queryText('eventName', eventName) };
}
