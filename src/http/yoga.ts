import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin, YogaServerInstance } from 'graphql-yoga';
import type { RequestContext } from '../operation/operation-run.ts';
import type { OperationResult } from '../operation/result.ts';
import { toByteStream } from './byte-stream.ts';
import { noteTaken, type SendOptions } from './send.ts';
import { streamedAnswer } from './streamed-answer.ts';

/** A request whose operation has run, or was refused. */
interface Answered {
  readonly context: RequestContext;
  readonly result: OperationResult;
}

/** A request in Yoga, beside its WHATWG form. */
interface Streaming extends Answered {
  readonly req: IncomingMessage;
}

/** Writes results by way of Yoga, which is loaded when it is first needed. */
export interface StreamWriter {
  /** Sends a result that is a stream or comes in parts, or any result to a client that accepts only a stream. */
  readonly send: (request: IncomingMessage, response: ServerResponse, answered: Answered) => void;
  /** Loads Yoga, which blocks the event loop for a second on a busy machine; undefined once it is loaded. */
  readonly load: () => Promise<unknown> | undefined;
}

/** Makes the writer of streams. `report` is told if Yoga cannot be loaded. */
export function createStreamWriter({
  compression,
  vary,
  report,
}: SendOptions & { readonly report: (error: unknown) => void }): StreamWriter {
  const create = async (): Promise<YogaServerInstance<Streaming, object>> => {
    const { createYoga } = await import('graphql-yoga');
    return createYoga<Streaming>({
      plugins: [useResults(compression)],
      graphiql: false,
      cors: false,
      logging: false,
      landingPage: false,
    });
  };
  // Loaded with the first request that may need it: most gateways never get one, and all gateways start sooner.
  let yoga: ReturnType<typeof create> | undefined;
  let isLoaded = false;
  const load = async (): Promise<void> => {
    yoga ??= create();
    await yoga;
    isLoaded = true;
  };
  return {
    send: (request, response, { context, result }) => {
      yoga ??= create();
      response.setHeader('x-request-id', context.requestId);
      response.setHeader('vary', vary);
      yoga.then((handle) => handle(request, response, { req: request, context, result }), report);
    },
    load: () => (isLoaded ? undefined : load()),
  };
}

/** Answers each request with the result of its operation, which has run before Yoga gets the request. */
function useResults(compression: boolean): Plugin<object, Streaming> {
  return {
    onRequest: (payload) => {
      const { req, context, result } = payload.serverContext;
      const { pieces, ...head } = streamedAnswer(result, req, context, compression);
      // Pieces of a stream without end would keep the answer to HEAD open.
      const isEndless = req.method === 'HEAD' && result.stream !== undefined;
      payload.endResponse(new payload.fetchAPI.Response(isEndless ? null : toByteStream(watched(pieces, req)), head));
    },
  };
}

/** Passes on the pieces of an answer. Once a piece is asked for, the client has taken the earlier ones. */
async function* watched(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { socket }: IncomingMessage,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    noteTaken(socket);
    yield piece;
  }
}
