import type { EventResolvers } from '../graphql/generated/resolvers.ts';
import { fetchRecord } from './by-id.ts';

/** The objects that an event refers to. Its own fields are columns. */
export const Event: EventResolvers = {
  project: ({ scope }, _args, context, info) =>
    fetchRecord({ noun: 'Project', scope: '', id: scope }, 'assumed', context, info),
};
