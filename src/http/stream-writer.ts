import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin, YogaServerInstance } from 'graphql-yoga';
import type { OperationResult } from '../operation/operation-result.ts';
import { toByteStream } from './byte-stream.ts';
import type { HttpRequestContext } from './request-context.ts';
import { type SendOptions, sendFault } from './send.ts';
import { noteRead } from './slow-readers.ts';
import { streamedAnswer } from './streamed-answer.ts';

/** The answer that Yoga sends. The gateway makes the answer first, and passes it to Yoga as the server context. */
interface YogaContext {
  readonly head: ResponseInit;
  readonly body: ReadableStream<Uint8Array> | null;
}

/** Writes results by way of Yoga, which is loaded when it is first needed. */
export interface StreamWriter {
  /**
   * Sends a stream, or an answer in parts, or any result to a client that accepts only a stream. Never rejects: a fault
   * is reported, and the client gets status 500 or an incomplete answer.
   */
  readonly send: (
    request: IncomingMessage,
    response: ServerResponse,
    answered: { readonly context: HttpRequestContext; readonly result: OperationResult },
  ) => Promise<void>;
  /**
   * Loads Yoga, which blocks the event loop for a second on a busy machine. Returns undefined if Yoga is loaded
   * already.
   */
  readonly load: () => Promise<unknown> | undefined;
}

/** Makes the writer of streams. */
export function createStreamWriter({
  compression,
  vary,
  report,
}: SendOptions & { readonly report: (error: unknown) => void }): StreamWriter {
  // Yoga is loaded with the first request that may need it. Most gateways never get one, and all gateways start sooner
  // without Yoga.
  let yoga: ReturnType<typeof createYogaServer> | undefined;
  let isLoaded = false;
  const load = async (): Promise<Awaited<typeof yoga & object>> => {
    yoga ??= createYogaServer();
    try {
      const loaded = await yoga;
      isLoaded = true;
      return loaded;
    } catch (error) {
      // The next request tries again.
      yoga = undefined;
      throw error;
    }
  };
  return {
    send: async (request, response, { context, result }) => {
      const fail = (error: unknown): void => {
        report(error);
        sendFault(response);
      };
      try {
        const handle = await load();
        const { pieces, ...head } = streamedAnswer(result, request, context, compression);
        response.setHeader('x-request-id', context.requestId);
        response.setHeader('vary', vary);
        // HEAD gets no pieces of an endless stream, because they would keep its answer open.
        const isEndless = request.method === 'HEAD' && result.stream !== undefined;
        await handle(request, response, {
          head,
          body: isEndless ? null : toByteStream(watched(pieces, request, fail)),
        });
      } catch (error) {
        fail(error);
      }
    },
    load: () => (isLoaded ? undefined : load()),
  };
}

async function createYogaServer(): Promise<YogaServerInstance<YogaContext, object>> {
  const { createYoga } = await import('graphql-yoga');
  const sendMade: Plugin<object, YogaContext> = {
    onRequest: (payload) => {
      const { head, body } = payload.serverContext;
      payload.endResponse(new payload.fetchAPI.Response(body, head));
    },
  };
  return createYoga<YogaContext>({
    plugins: [sendMade],
    graphiql: false,
    cors: false,
    logging: false,
    landingPage: false,
  });
}

/**
 * Passes on the pieces of an answer. Once a piece is asked for, the client has taken the earlier ones. If a piece
 * cannot be made, calls `fail`, because Yoga would leave the answer open.
 */
async function* watched(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { socket }: IncomingMessage,
  fail: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of pieces) {
      noteRead(socket);
      yield piece;
    }
  } catch (error) {
    fail(error);
  }
}
