import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin, YogaServerInstance } from 'graphql-yoga';
import type { MemoryRoom } from '../memory.ts';
import { toPublicError } from '../operation/errors.ts';
import type { RequestContext } from '../operation/operation-run.ts';
import type { GraphQLParams } from '../operation/params.ts';
import type { RunOperation } from '../operation/pipeline.ts';
import type { OperationResult } from '../operation/result.ts';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import { toByteStream } from './byte-stream.ts';
import type { Identify } from './identify.ts';
import { negotiateParts } from './negotiation.ts';
import { type BodyLimits, countRefused, readParams } from './request.ts';
import { HttpRequestContext } from './request-context.ts';
import { streamedAnswer } from './result-stream.ts';
import { noteTaken } from './unread.ts';

/** Collaborators and settings of Yoga. */
export interface YogaOptions {
  readonly run: RunOperation;
  readonly bodyLimits: BodyLimits;
  readonly bodyRoom: MemoryRoom;
  /** Identifies the caller of a request; undefined if callers send keys. */
  readonly identify: Identify | undefined;
  /** True if parts are compressed for clients that ask for it. */
  readonly compression: boolean;
  /** The `Vary` header of every answer. */
  readonly vary: string;
  readonly report: (error: unknown) => void;
  /** Counts requests that are refused before there is an operation. */
  readonly refused: CountRefused;
}

/** A request whose operation has run, or was refused. */
interface Answered {
  readonly context: RequestContext;
  readonly result: OperationResult;
}

/** Writes a result that is a stream or comes in parts, or any result for a client that accepts only a stream. */
export type Stream = (request: IncomingMessage, response: ServerResponse, answered: Answered) => void;

/** Answers by way of Yoga, which is loaded when it is first needed. */
export interface YogaHandler {
  /** Answers a request whose client accepts only a stream. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly stream: Stream;
  /** Loads Yoga, which blocks the event loop for a second on a busy machine; undefined once it is loaded. */
  readonly load: () => Promise<unknown> | undefined;
}

/**
 * Serves clients that accept only a stream, and writes results that are streams or come in parts. Method, content type
 * and `Accept` have been checked before.
 */
export function createYogaHandler(options: YogaOptions): YogaHandler {
  const { run, bodyLimits, bodyRoom, identify, compression, vary, report, refused } = options;
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
  const stream: Stream = (request, response, { context, result }) => {
    yoga ??= create();
    response.setHeader('x-request-id', context.requestId);
    response.setHeader('vary', vary);
    yoga.then((handle) => handle(request, response, { req: request, context, result }), report);
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const claim = bodyRoom.claim();
    response.once('close', () => claim.release());
    const context = new HttpRequestContext(request, response, claim, identify, negotiateParts(request.headers.accept));
    let params: GraphQLParams | undefined;
    let result: OperationResult;
    try {
      params = await readParams(request, bodyLimits, claim);
      if (params === undefined) return;
      // Before the first REST call, because nothing can be sent during loading.
      if (!isLoaded) await load();
      result = await run(params, context);
    } catch (error) {
      if (params === undefined) countRefused(error, refused);
      result = { errors: [toPublicError(error, report)] };
    }
    stream(request, response, { context, result });
  };
  return {
    handle: (request, response) => void handle(request, response),
    stream,
    load: () => (isLoaded ? undefined : load()),
  };
}

/** A request in Yoga, beside its WHATWG form. */
interface Streaming extends Answered {
  readonly req: IncomingMessage;
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

/** Passes on the pieces of an answer. A client has taken the earlier ones when the next one is made. */
async function* watched(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { socket }: IncomingMessage,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    noteTaken(socket);
    yield piece;
  }
}
