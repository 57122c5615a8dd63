import type { EventSourceMessage } from 'eventsource-parser';
import type { TypedDocumentString } from '../generated/graphql.ts';
import { type AnswerError, connectionLost, firstFailure, type GatewayError, noAnswer } from './GatewayError.ts';
import { readEvents } from './readEvents.ts';
import { request } from './request.ts';

/** An event of a stream. */
export type StreamEvent<Data> =
  // The gateway has begun it.
  | { readonly kind: 'open' }
  // Without data: a message was lost on the way, and others may come.
  | { readonly kind: 'message'; readonly data: Data | undefined };

interface Message<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly AnswerError[];
}

/** The gateway sends something every 13 seconds at least: after so many milliseconds without, the connection is lost. */
const silenceMs = 40_000;

/**
 * Follows a subscription over one connection, by server-sent events. Never resolves: rejects with a GatewayError of what the
 * gateway says, or with whatever ended the connection.
 * https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md
 */
export async function subscribe<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  signal: AbortSignal,
  onEvent: (event: StreamEvent<Data>) => void,
): Promise<never> {
  const response = await request(document, variables, 'text/event-stream', signal);
  const { body, headers } = response;
  if (body === null || headers.get('content-type')?.startsWith('text/event-stream') !== true)
    throw await refusalIn(response);
  let isOpen = false;
  let failure: GatewayError | undefined;
  await readEvents(body, silenceMs, (events) => {
    // A subscription that is refused is complete at once.
    if (!isOpen && !events.some(isComplete)) onEvent({ kind: 'open' });
    isOpen = true;
    for (const event of events) {
      if (isComplete(event)) throw failure ?? connectionLost();
      // It was not the reason of an end.
      if (failure !== undefined) onEvent({ kind: 'message', data: undefined });
      const { data, errors }: Message<Data> = JSON.parse(event.data);
      failure = data ? undefined : firstFailure(errors, headers);
      if (data) onEvent({ kind: 'message', data });
    }
  });
  throw connectionLost();
}

function isComplete({ event }: EventSourceMessage): boolean {
  return event === 'complete';
}

/** The error of an answer that is no stream. */
async function refusalIn(response: Response): Promise<GatewayError> {
  try {
    const { errors }: Message<unknown> = await response.json();
    return firstFailure(errors, response.headers) ?? noAnswer(undefined);
  } catch (cause) {
    return noAnswer(cause);
  }
}
