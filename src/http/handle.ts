import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Log } from '../log.ts';
import { toPublicError } from '../operation/errors.ts';
import { createCors } from './cors.ts';
import { createFastPath } from './fast-path.ts';
import { createGraphiql } from './graphiql/graphiql.ts';
import type { PageOptions } from './graphiql/page.ts';
import { createIdentify } from './identify.ts';
import { requestIdOf } from './identifying-headers.ts';
import { negotiate, negotiateStream } from './negotiation.ts';
import { countRefused, refusalOf } from './request.ts';
import { answerHeaders, toAnswer } from './response.ts';
import { createSend } from './send.ts';
import { createYogaHandler, type YogaOptions } from './yoga.ts';

/** Answers `/graphql`, for `node:http`. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Collaborators and settings of the edge. */
export interface HandleOptions
  extends PageOptions,
    Pick<YogaOptions, 'run' | 'bodyLimits' | 'bodyRoom' | 'report' | 'refused'> {
  /** Authenticates callers by their tokens; undefined if callers send keys. */
  readonly authenticator: Authenticator | undefined;
  readonly graphiql: boolean;
  readonly corsOrigins: readonly string[];
  /** Names of request headers that pages may send beside the usual ones; by default none. */
  readonly corsHeaders?: readonly string[];
  /** True if answers are compressed for clients that ask for it; by default they are not. */
  readonly compression?: boolean;
  readonly log: Log;
}

/**
 * Makes the handler of `/graphql`. The first of these rules that fits a request applies:
 *
 * - CORS answers the preflight of a page of another origin;
 * - a browser that opens the endpoint gets GraphiQL, unless GraphiQL is off;
 * - a method other than GET and POST is answered with 405, a body that is not declared as plain JSON with 415;
 * - a client that accepts JSON, as nearly all do, is answered on the fast path; Yoga writes its answer if that is a
 *   stream or comes in parts;
 * - a client that accepts only a stream is answered by Yoga;
 * - any other client gets 406, and nothing is executed.
 */
export function createHandle(options: HandleOptions): Handle {
  const { compression = false, corsOrigins: origins, corsHeaders: headers = [] } = options;
  const { log, report, refused } = options;
  const vary = varyOf(origins, compression);
  const send = createSend({ compression, vary });
  const identify = options.authenticator && createIdentify(options.authenticator);
  const cors = createCors({ origins, headers, vary, log });
  const graphiql = options.graphiql
    ? createGraphiql({ ...options, takesTokens: identify !== undefined, compression, vary })
    : undefined;
  const yoga = createYogaHandler({ ...options, identify, compression, vary });
  const fastPath = createFastPath({ ...options, send, stream: yoga.stream, loadStreams: yoga.load, identify });
  return (request, response) => {
    if (cors(request, response) || graphiql?.(request, response) === true) return;
    const { accept } = request.headers;
    const mediaType = negotiate(accept);
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      countRefused(refusal, refused);
      // Always answered in JSON: the client is perhaps no GraphQL client.
      const answer = toAnswer({ errors: [toPublicError(refusal, report)] }, mediaType ?? 'application/json');
      answer.headers['x-request-id'] = requestIdOf(request);
      send(request, response, answer);
    } else if (mediaType !== undefined) fastPath(request, response, mediaType);
    else if (negotiateStream(accept) !== undefined) yoga.handle(request, response);
    else {
      refused('notAcceptable');
      response.writeHead(406, { ...answerHeaders, vary, 'x-request-id': requestIdOf(request) }).end();
    }
  };
}

/** The `Vary` header of answers. It is a single header, because some caches read only the first of several. */
function varyOf(origins: readonly string[], compression: boolean): string {
  const encoding = compression ? ', Accept-Encoding' : '';
  return `Authorization, Accept${encoding}${origins.length > 0 ? ', Origin' : ''}`;
}
