import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Log } from '../log.ts';
import type { MemoryRoom } from '../memory.ts';
import type { GraphQLParams } from '../operation/params.ts';
import type { RunOperation } from '../operation/pipeline.ts';
import { toPublicError } from '../operation/public-errors.ts';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import { createCors } from './cors.ts';
import { createGraphiql } from './graphiql/graphiql.ts';
import type { PageOptions } from './graphiql/page.ts';
import { requestIdOf } from './identifying-headers.ts';
import { negotiate } from './negotiation.ts';
import { type BodyLimits, countIfRefused, paramsOfBody, paramsOfUrl, readBody, refusalOf } from './request.ts';
import { HttpRequestContext } from './request-context.ts';
import { answerHeaders, type HttpAnswer, toAnswer } from './response.ts';
import { createSend } from './send.ts';
import { createStreamWriter } from './stream-writer.ts';

/** Answers requests of one path, for `node:http`. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers `/graphql`. Never rejects. */
export type HandleGraphQL = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Collaborators and settings that `/graphql` and the endpoint for agents have in common. */
export interface EdgeOptions {
  readonly run: RunOperation;
  /** Authenticates callers by their tokens; undefined if callers send API keys. */
  readonly authenticator: Authenticator | undefined;
  /** Origins whose pages may call the endpoint. */
  readonly corsOrigins: readonly string[];
  /** Names of request headers that pages may send beside the usual ones. */
  readonly corsHeaders: readonly string[];
  /** True if answers are compressed for clients that ask for it. */
  readonly compression: boolean;
  readonly bodyLimits: BodyLimits;
  readonly bodyRoom: MemoryRoom;
  readonly report: (error: unknown) => void;
  /** Counts requests that are refused before there is an operation. */
  readonly countRefused: CountRefused;
  readonly log: Log;
}

/** Collaborators and settings of `/graphql`. */
export interface HandleOptions extends EdgeOptions, PageOptions {
  readonly graphiql: boolean;
}

/**
 * Makes the handler of `/graphql`. The first of these rules that fits a request applies:
 *
 * - CORS answers the preflight of a page of another origin;
 * - a browser that opens the endpoint gets GraphiQL, and its page gets the assets, unless GraphiQL is off;
 * - a method other than GET and POST is answered with 405, a body that is not declared as plain JSON with 415;
 * - a client that accepts neither JSON nor a stream gets 406, and nothing is executed;
 * - any other client gets the result of its operation: as one JSON document, or from Yoga if it accepts only a stream,
 *   or if the result is a stream or comes in parts. JSON is not sent by way of Yoga, because the conversion to and from
 *   WHATWG requests costs more than a small operation.
 */
export function createHandle(options: HandleOptions): HandleGraphQL {
  const { compression, corsOrigins: origins, corsHeaders: headers } = options;
  const { run, authenticator, bodyLimits, log, report, countRefused } = options;
  const vary = varyOf(origins, compression);
  const send = createSend({ compression, vary });
  const cors = createCors({ origins, headers, vary, log });
  const graphiql = options.graphiql
    ? createGraphiql({ ...options, takesTokens: authenticator !== undefined, compression, vary })
    : undefined;
  const streams = createStreamWriter({ compression, vary, report });
  return async (request, response) => {
    if (cors(request, response) || graphiql?.(request, response) === true) return;
    const accepted = negotiate(request.headers.accept);
    const { document: mediaType } = accepted;
    let context: HttpRequestContext | undefined;
    let params: GraphQLParams | undefined;
    let answer: HttpAnswer;
    try {
      const refusal = refusalOf(request);
      if (refusal !== undefined) throw refusal;
      if (mediaType === undefined && accepted.stream === undefined) {
        countRefused('notAcceptable');
        response.writeHead(406, { ...answerHeaders, vary, 'x-request-id': requestIdOf(request) }).end();
        return;
      }
      context = new HttpRequestContext(request, response, accepted, 'graphql', options);
      params =
        context.method === 'GET'
          ? paramsOfUrl(request.url ?? '', bodyLimits.jsonDepth)
          : await readBody(request, bodyLimits, context.claim, paramsOfBody);
      if (params === undefined) return;
      // Yoga is loaded before the first REST call. Loading it blocks the event loop, so no call can be sent meanwhile.
      const loading = mediaType === undefined || accepted.parts !== undefined ? streams.load() : undefined;
      if (loading !== undefined) await loading;
      const result = await run(params, context);
      if (mediaType === undefined || result.parts !== undefined || result.stream !== undefined) {
        const { claim } = context;
        claim.hold();
        context.onClose(() => claim.release());
        return void streams.send(request, response, { context, result });
      }
      answer = toAnswer(result, mediaType);
    } catch (error) {
      if (params === undefined) countIfRefused(error, countRefused);
      const result = { errors: [toPublicError(error, report)] };
      // Without a context, the gateway does not know that a GraphQL client sent the request, so the answer is JSON.
      if (mediaType === undefined && context !== undefined)
        return void streams.send(request, response, { context, result });
      answer = toAnswer(result, mediaType ?? 'application/json');
    } finally {
      context?.claim.release();
    }
    answer.headers['x-request-id'] = context?.requestId ?? requestIdOf(request);
    send(request, response, answer);
  };
}

/** The `Vary` header of answers. It is a single header, because some proxies read only the first of several. */
function varyOf(origins: readonly string[], compression: boolean): string {
  const encoding = compression ? ', Accept-Encoding' : '';
  return `Authorization, Accept${encoding}${origins.length > 0 ? ', Origin' : ''}`;
}
