import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { toEventQuery } from '../graphql/event-filter.ts';
import type {
  EventsAddedResolvers,
  SubscriptionEventsAddedArgs,
  SubscriptionResolvers,
} from '../graphql/generated/resolvers.ts';
import { parseOwnerId } from '../graphql/ids.ts';
import { UserInputError } from '../graphql/input-error.ts';
import { refuseCurrent } from '../graphql/reach-refusals.ts';
import type { TailMessage } from '../live/listener.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { ListRef } from '../rest/pages.ts';
import { current } from '../rest/paths.ts';
import { reaches } from '../rest/reach.ts';
import { listedRecords } from './by-id.ts';

/** The fields of `Subscription`. */
export const Subscription: SubscriptionResolvers = {
  eventsAdded: {
    subscribe: async (_root, args, context) => {
      const list = await listOf(args, context);
      const { after } = args;
      const isGiven = after !== undefined && after !== null;
      const position = isGiven ? context.cursors.decode(ofTail(list), after, 'after') : undefined;
      if (context.follow === undefined) throw new Error('a subscription was not begun as one');
      return context.follow(list, position);
    },
    // The root value is the message object itself, because equal subscriptions find their shared answer by this object.
    resolve: (message: TailMessage, _args: object, context: GatewayContext, info: GraphQLResolveInfo) => {
      countAnswered(1, context, info);
      return message;
    },
  },
};

/** One message of events. */
export const EventsAdded: EventsAddedResolvers = {
  nodes: ({ list, rows, received }, _args, context, info) => {
    countAnswered(rows.length, context, info, list.scope.length);
    context.answerCounter.receive(received);
    return listedRecords(list, rows, context, info);
  },
  cursor: ({ list, position }, _args, { answerCounter, cursors }) => {
    const cursor = cursors.encode(ofTail(list), position);
    answerCounter.addText(cursor);
    return cursor;
  },
};

/** The list of events that is followed. A project out of reach is reported like one that does not exist. */
async function listOf({ projectId, filter }: SubscriptionEventsAddedArgs, context: GatewayContext): Promise<ListRef> {
  const { rights, loaders } = context;
  refuseCurrent(rights?.reach, projectId, 'projectId');
  const query = eventQueryOf(filter);
  const given = parseOwnerId('Project', projectId, 'projectId');
  if (!reaches(rights?.reach, { noun: 'Project', scope: '', id: given })) throw new UpstreamError('NOT_FOUND');
  const scope = given === current ? await loaders.fetchCurrentId('Project') : given;
  return { noun: 'Event', scope, filter: query };
}

function eventQueryOf(filter: SubscriptionEventsAddedArgs['filter']): ListRef['filter'] {
  if (filter === undefined || filter === null) return undefined;
  for (const name of ['occurredAfter', 'occurredBefore'] as const) {
    if ((filter[name] ?? undefined) === undefined) continue;
    throw new UserInputError(`Expected \`filter.${name}\` to be left out: a subscription follows only new events.`);
  }
  return toEventQuery(filter);
}

/** The list as a tail, so that the cursors of its messages differ from those of pages. */
function ofTail(list: ListRef): ListRef {
  return { ...list, form: 'tail' };
}
