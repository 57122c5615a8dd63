import type { EventResolvers } from '../graphql/generated/resolvers.ts';
import { toGlobalId } from '../graphql/ids.ts';
import { fetchRecord } from './by-id.ts';

export const Event: EventResolvers = {
  id: ({ scope, id }) => toGlobalId({ type: 'Event', scope, id }),
  upstreamId: ({ id }) => id,
  project: ({ scope }, _args, context, info) =>
    fetchRecord({ kind: 'Project', scope: '', id: scope }, 'assumed', context, info),
};
