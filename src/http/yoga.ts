import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import type { Plugin, YogaServerInstance } from 'graphql-yoga';
import type { Claim, MemoryRoom } from '../memory.ts';
import { toPublicError } from '../operation/errors.ts';
import type { RequestContext } from '../operation/operation-run.ts';
import type { GraphQLParams } from '../operation/params.ts';
import type { RunOperation } from '../operation/pipeline.ts';
import type { OperationResult } from '../operation/result.ts';
import { isObject } from '../rest/values.ts';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import { toByteStream } from './byte-stream.ts';
import type { Identify } from './identify.ts';
import { toMessageStream } from './message-stream.ts';
import { negotiateCoding, negotiateMessages, negotiateParts, negotiateStream } from './negotiation.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { type BodyLimits, countRefused, methodOf, readParams } from './request.ts';
import { HttpRequestContext } from './request-context.ts';
import { partsStream, toStream } from './result-stream.ts';
import { noteTaken, watchReader } from './unread.ts';

/** Collaborators and settings of Yoga. */
export interface YogaOptions {
  readonly schema: GraphQLSchema;
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

/** One request in Yoga, beside its WHATWG form. Each plugin adds to it. */
interface StreamedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly context: RequestContext;
  readonly claim: Claim;
  /** True if the client sent HEAD: a stream then ends with its headers. */
  readonly isHead: boolean;
  /** The parameters of the client; Yoga's own parameters hold less. */
  params?: GraphQLParams | undefined;
  result?: OperationResult;
}

/** A request whose operation has run, with a result that is a stream or comes in parts. */
type Streamed = Pick<StreamedRequest, 'context' | 'claim'> & { readonly result: OperationResult };

/** Answers a request with a result that is a stream or comes in parts. */
export type Stream = (request: IncomingMessage, response: ServerResponse, streamed: Streamed) => void;

/** The handlers that use Yoga. */
export interface YogaHandler {
  /** Answers a request whose client accepts only a stream. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly stream: Stream;
  /** Loads Yoga, which blocks the event loop for a second on a busy machine; undefined once it is loaded. */
  readonly load: () => Promise<unknown> | undefined;
}

/**
 * Serves clients that accept only a stream, and writes results that are streams or come in parts. Method, content type
 * and `Accept` have been checked before. Plugins replace Yoga's own steps: the code of the fast path reads the
 * parameters, runs the operation and writes the result.
 */
export function createYogaHandler(options: YogaOptions): YogaHandler {
  const { schema, bodyRoom, identify, vary, report } = options;
  const create = async (): Promise<YogaServerInstance<StreamedRequest, object>> => {
    const { createYoga } = await import('graphql-yoga');
    return createYoga<StreamedRequest>({
      schema,
      plugins: [useParams(options), useOperations(options), useStreams(options)],
      maskedErrors: false,
      // Yoga does not read bodies.
      maxRequestBodySize: false,
      graphiql: false,
      cors: false,
      multipart: false,
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
  const serve = (
    request: IncomingMessage,
    response: ServerResponse,
    known: Pick<StreamedRequest, 'context' | 'claim' | 'result'>,
  ): void => {
    yoga ??= create();
    const isHead = request.method === 'HEAD';
    // Yoga refuses all methods but GET and POST.
    request.method = methodOf(request);
    response.setHeader('x-request-id', known.context.requestId);
    response.setHeader('vary', vary);
    yoga.then((handle) => handle(request, response, { ...known, req: request, res: response, isHead }), report);
  };
  return {
    handle: (request, response) => {
      const claim = bodyRoom.claim();
      response.once('close', () => claim.release());
      const parts = negotiateParts(request.headers.accept);
      serve(request, response, { claim, context: new HttpRequestContext(request, response, claim, identify, parts) });
    },
    stream: serve,
    load: () => (isLoaded ? undefined : load()),
  };
}

/** Reads parameters as the fast path does. */
function useParams({ bodyLimits, refused }: YogaOptions): Plugin<object, StreamedRequest> {
  return {
    onRequestParse: ({ setRequestParser, serverContext }) => {
      setRequestParser(async () => {
        if (serverContext.result !== undefined) return { query: '' };
        const params = await readParams(serverContext.req, bodyLimits, serverContext.claim).catch((error: unknown) => {
          countRefused(error, refused);
          throw error;
        });
        serverContext.params = params;
        // A document that is named by an id has no text, but Yoga expects one.
        return { query: params?.query ?? '' };
      });
    },
  };
}

function useOperations({ run }: YogaOptions): Plugin<object, StreamedRequest> {
  return {
    onParams: async ({ setResult, context }) => {
      if (context.params !== undefined) context.result ??= await run(context.params, context.context);
      const data = context.result?.data;
      setResult(isObject(data) ? { data } : {});
    },
  };
}

/** Writes results as a stream, with the status and headers of the fast path. */
function useStreams({ compression, report }: YogaOptions): Plugin<object, StreamedRequest> {
  return {
    onResultProcess: (payload) => {
      const { request, serverContext } = payload;
      const accept = request.headers.get('accept') ?? undefined;
      const type = negotiateStream(accept) ?? 'text/event-stream';
      payload.setResultProcessor((result, fetchAPI) => {
        const { result: { parts, stream, rateLimits = [] } = {}, context, isHead, res } = serverContext;
        if (stream !== undefined) {
          const { body, headers } = toMessageStream(watched(stream, res), negotiateMessages(accept) ?? type, accept);
          return new fetchAPI.Response(isHead ? null : body, { headers });
        }
        if (parts !== undefined) {
          const accepted = compression ? (request.headers.get('accept-encoding') ?? '') : '';
          const { body, ...head } = partsStream(
            watched(parts.texts, res),
            parts.format,
            negotiateCoding(accepted),
            context,
          );
          return new fetchAPI.Response(body, {
            ...head,
            headers: { ...head.headers, ...rateLimitHeaders(rateLimits) },
          });
        }
        const errors = errorsOf(result).map((error) => toPublicError(error, report));
        const { slices, ...head } = toStream(serverContext.result ?? { errors }, type, context.parts);
        return new fetchAPI.Response(toByteStream(watched(slices, res)), head);
      }, type);
    },
  };
}

/** Passes on the pieces of an answer. A client that asks for a piece has taken the one before. */
async function* watched<Piece>(
  pieces: AsyncIterable<Piece> | Iterable<Piece>,
  response: ServerResponse,
): AsyncGenerator<Piece> {
  watchReader(response);
  for await (const piece of pieces) {
    noteTaken(response);
    yield piece;
  }
}

/** The errors of a request that was refused before it became an operation. */
function errorsOf(result: object): readonly unknown[] {
  return 'errors' in result && Array.isArray(result.errors) ? result.errors : [];
}
