import type { IncomingMessage, ServerResponse } from 'node:http';
import { toPublicError } from '../operation/errors.ts';
import type { GraphQLParams } from '../operation/params.ts';
import { type MediaType, negotiateParts } from './negotiation.ts';
import { countRefused, readParams } from './request.ts';
import { HttpRequestContext } from './request-context.ts';
import { type HttpAnswer, toAnswer } from './response.ts';
import type { Send } from './send.ts';
import type { Stream, YogaOptions } from './yoga.ts';

/** Collaborators and settings of the fast path. */
export interface FastPathOptions extends Omit<YogaOptions, 'compression' | 'vary'> {
  readonly send: Send;
  /** Sends a result that is a stream or that comes in parts. */
  readonly stream: Stream;
  /** Loads the code for such results; undefined once it is loaded. */
  readonly loadStreams: () => Promise<unknown> | undefined;
}

/** Answers a request whose client accepts one JSON document. */
export type FastPath = (request: IncomingMessage, response: ServerResponse, mediaType: MediaType) => void;

/**
 * Makes the handler of most requests: one operation in, one JSON document out. It skips the conversion to and from WHATWG
 * requests, which costs more than a small operation.
 */
export function createFastPath(options: FastPathOptions): FastPath {
  return (request, response, mediaType) => void answer(request, response, mediaType, options);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  mediaType: MediaType,
  { run, bodyLimits, bodyRoom, send, stream, loadStreams, identify, report, refused }: FastPathOptions,
): Promise<void> {
  const claim = bodyRoom.claim();
  const context = new HttpRequestContext(request, response, claim, identify, negotiateParts(request.headers.accept));
  let complete: HttpAnswer;
  let params: GraphQLParams | undefined;
  try {
    params = await readParams(request, bodyLimits, claim);
    if (params === undefined) return;
    // Loaded before the first REST call, because no finished part can be sent during loading.
    const loading = context.parts === undefined ? undefined : loadStreams();
    if (loading !== undefined) await loading;
    const result = await run(params, context);
    const isStream = result.parts !== undefined || result.stream !== undefined;
    if (isStream) return stream(request, response, { context, result });
    complete = toAnswer(result, mediaType);
  } catch (error) {
    if (params === undefined) countRefused(error, refused);
    complete = toAnswer({ errors: [toPublicError(error, report)] }, mediaType);
  } finally {
    claim.release();
  }
  complete.headers['x-request-id'] = context.requestId;
  send(request, response, complete);
}
