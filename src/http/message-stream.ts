import { type StreamMessage, textOf } from '../operation/operation-result.ts';
import { framed } from './byte-stream.ts';
import type { StreamType } from './negotiation.ts';
import { type HttpAnswer, streamHeaders } from './response.ts';

/** The form in which the messages of a subscription are written. */
interface MessageForm {
  /** The media type of the answer for a client with this `Accept`. */
  readonly contentTypeFor: (accept: string) => string;
  /** The first bytes, sent with the headers: some clients and proxies do not pass on headers alone. */
  readonly start: string;
  readonly write: (text: string, isLast: boolean) => Iterable<Uint8Array>;
  /** The heartbeat, which shows that the connection is alive. */
  readonly heartbeat: string;
  readonly end: string;
}

const partHead = '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n';
const partEnd = '\r\n---';

const forms: Readonly<Record<StreamType, MessageForm>> = {
  // The distinct connections mode of https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md
  'text/event-stream': {
    contentTypeFor: () => 'text/event-stream',
    start: ':\n\n',
    write: (text) => framed('event: next\ndata: ', text, '\n\n'),
    heartbeat: ':\n\n',
    end: 'event: complete\ndata:\n\n',
  },
  // https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol. Each part ends with the
  // delimiter of the next one, so that a client can read it at once.
  'multipart/mixed': {
    // The version is spelled as in the client's header. Apollo iOS recognises it only without quotation marks.
    contentTypeFor: (accept) => {
      const version = /subscriptionSpec=1\.0/i.test(accept) ? '1.0' : '"1.0"';
      return `multipart/mixed; boundary="-"; subscriptionSpec=${version}`;
    },
    start: '\r\n---',
    write: (text, isLast) =>
      isLast
        ? framed(`${partHead}{"payload":null,`, text.slice(1), partEnd)
        : framed(`${partHead}{"payload":`, text, `}${partEnd}`),
    heartbeat: `${partHead}{}${partEnd}`,
    end: '--\r\n',
  },
};

/** An HTTP response whose body is made piece by piece. */
export interface StreamedAnswer extends Omit<HttpAnswer, 'body'> {
  readonly pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/**
 * The interval between heartbeats, in milliseconds. Clients and proxies may give up a connection that is silent for
 * longer.
 */
const heartbeatMs = 13_000;

/**
 * The HTTP response that streams the answers of a subscription to a client with this `Accept`. Messages are requested
 * only as fast as the client reads them. Further messages wait in the listener of the subscription, which has limits.
 */
export function toMessageStream(messages: AsyncIterable<StreamMessage>, type: StreamType, accept = ''): StreamedAnswer {
  const form = forms[type];
  const headers = { ...streamHeaders, 'content-type': form.contentTypeFor(accept) };
  return { status: 200, headers, pieces: piecesOf(messages, form) };
}

async function* piecesOf(messages: AsyncIterable<StreamMessage>, form: MessageForm): AsyncGenerator<Uint8Array> {
  yield Buffer.from(form.start);
  const iterator = messages[Symbol.asyncIterator]();
  for (;;) {
    // Only the bytes of a message are kept while the client reads them.
    const next = iterator.next().then((message) => bytesOf(message, form));
    for (let isHere = await settlesSoon(next); !isHere; isHere = await settlesSoon(next))
      yield Buffer.from(form.heartbeat);
    const slices = await next;
    if (slices === undefined) break;
    yield* slices;
  }
  yield Buffer.from(form.end);
}

/** The bytes of the next message; undefined if there is none. */
function bytesOf(
  { done, value }: IteratorResult<StreamMessage, void>,
  form: MessageForm,
): Iterable<Uint8Array> | undefined {
  if (done === true) return undefined;
  const { result, isLast } = value;
  return form.write(textOf(result), isLast);
}

/** True if a promise settles before the next beat is due. */
function settlesSoon(promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), heartbeatMs);
    const settle = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settle, settle);
  });
}
