import type { EventResolvers } from '../graphql/generated/resolvers.ts';
import { fetchRecord } from './by-id.ts';

/** What an event refers to; its own fields are columns. */
export const Event: EventResolvers = {
  project: ({ scope }, _args, context, info) =>
    fetchRecord({ noun: 'Project', scope: '', id: scope }, 'assumed', context, info),
};
