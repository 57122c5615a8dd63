import type { IncomingMessage, ServerResponse } from 'node:http';
import { toPublicError } from '../operation/errors.ts';
import type { RequestContext } from '../operation/operation-run.ts';
import type { GraphQLParams } from '../operation/params.ts';
import type { RunOperation } from '../operation/pipeline.ts';
import type { OperationResult } from '../operation/result.ts';
import { bytesOnceParsed } from '../rest/transport/json-weight.ts';
import { readBody } from './body.ts';
import type { BodyBudget, BodyClaim } from './body-budget.ts';
import { callerOf, headerValues, traceContextOf } from './caller.ts';
import { type MediaType, negotiate } from './negotiation.ts';
import { paramsOfBody, paramsOfUrl } from './params.ts';
import { requestIdOf } from './request-id.ts';
import { toAnswer } from './response.ts';
import type { Send } from './send.ts';

/** What a client may send at most. */
export interface BodyLimits {
  readonly bytes: number;
  /** Nesting of objects and lists. */
  readonly jsonDepth: number;
}

/** Settings of the fast path. */
export interface FastPathOptions {
  readonly run: RunOperation;
  readonly bodyLimits: BodyLimits;
  readonly bodyBudget: BodyBudget;
  readonly send: Send;
  readonly report: (error: unknown) => void;
}

/** Answers a request if it is a common one; false: it is left untouched for somebody else. */
export type FastPath = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * The short way of the common request: POST with a JSON body, or a GET with parameters, answered as one JSON document.
 * It goes around the conversion to and from WHATWG requests, which costs more than a small operation.
 */
export function createFastPath(options: FastPathOptions): FastPath {
  return (request, response) => {
    const mediaType = negotiate(request.headers.accept);
    if (mediaType === undefined || !isCommon(request)) return false;
    void answer(request, response, mediaType, options);
    return true;
  };
}

function isCommon({ method, headers, url = '' }: IncomingMessage): boolean {
  if (method === 'POST') return isJson(headers['content-type']) && headers['content-encoding'] === undefined;
  // A browser that opens a link to a query wants GraphiQL.
  return method === 'GET' && url.includes('?') && headers.accept?.includes('text/html') !== true;
}

/** Whether a body is declared as JSON. Forms and plain text could be sent across sites without a preflight. */
export function isJson(contentType: string | null | undefined): boolean {
  return typeof contentType === 'string' && /^application\/json\s*(?:;|$)/i.test(contentType);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  mediaType: MediaType,
  { run, bodyLimits, bodyBudget, send, report }: FastPathOptions,
): Promise<void> {
  const sendResult = (result: OperationResult, requestId: string): void => {
    const complete = toAnswer(result, mediaType);
    complete.headers['x-request-id'] = requestId;
    send(request, response, complete);
  };
  const claim = bodyBudget.claim();
  try {
    const params = await readParams(request, bodyLimits, claim);
    if (params === undefined) return;
    const context = contextOf(request, response, claim);
    sendResult(await run(params, context), context.requestId);
  } catch (error) {
    sendResult({ errors: [toPublicError(error, report)] }, contextOf(request, response, claim).requestId);
  } finally {
    claim.release();
  }
}

/** The parameters; undefined where the client left before it had sent them. Throws GraphQLErrors. */
export function readParams(
  request: IncomingMessage,
  { bytes, jsonDepth }: BodyLimits,
  claim: BodyClaim,
): Promise<GraphQLParams | undefined> {
  if (request.method === 'GET') return Promise.try(paramsOfUrl, request.url ?? '', jsonDepth);
  return readBody(request, bytes, claim, (text) => paramsOfBody(text, jsonDepth));
}

/** What the operation may know of a request of node's, the body of which takes what is claimed. */
export function contextOf(request: IncomingMessage, response: ServerResponse, claim: BodyClaim): RequestContext {
  const headers = (name: string): readonly string[] => headerValues(request.rawHeaders, name);
  return {
    method: request.method ?? '',
    requestId: requestIdOf(headers('x-request-id')[0]),
    caller: callerOf(headers),
    trace: traceContextOf(headers),
    hasLeft: () => response.closed && !response.writableFinished,
    onLeave: (listener) => {
      if (response.closed) return listener();
      response.once('close', () => {
        if (!response.writableFinished) listener();
      });
    },
    onKept: (query, variablesText) => claim.shrink(() => query.length + bytesOnceParsed(variablesText)),
    onClose: (listener) => {
      if (response.closed) listener();
      else response.once('close', listener);
    },
  };
}
