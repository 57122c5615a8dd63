import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import type { Claim } from '../memory.ts';
import type { GraphQLParams } from '../operation/params.ts';
import { httpExtensionOf, requestError } from '../operation/request-error.ts';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import { readBody } from './body.ts';
import { paramsOfBody, paramsOfUrl } from './params.ts';

/** The limits of a request body. */
export interface BodyLimits {
  readonly bytes: number;
  /** The deepest nesting of objects and lists. */
  readonly jsonDepth: number;
}

/** The most characters of a content type that an error repeats. */
const longestShown = 100;

/** The method of a request. HEAD counts as GET: node sends no body for it. */
export function methodOf({ method = '' }: IncomingMessage): string {
  return method === 'HEAD' ? 'GET' : method;
}

/**
 * The refusal of a request for its method, or for a body that is not declared as plain JSON; undefined if it may be read.
 * Other sites could send forms and plain text without a preflight.
 */
export function refusalOf(request: IncomingMessage): GraphQLError | undefined {
  const method = methodOf(request);
  if (method === 'GET') return undefined;
  if (method !== 'POST') return requestError('wrongMethod', `Expected GET or POST, but got ${method}.`);
  const { 'content-type': contentType = '', 'content-encoding': coding = 'identity' } = request.headers;
  if (!isJson(contentType)) {
    const found = contentType === '' ? 'none is declared' : `got ${contentType.slice(0, longestShown)}`;
    return requestError('notJson', `Expected a body of the content type application/json, but ${found}.`);
  }
  return coding === 'identity' ? undefined : requestError('encodedBody', 'Expected a body without a content coding.');
}

function isJson(contentType: string): boolean {
  return contentType === 'application/json' || /^application\/json\s*(?:;|$)/i.test(contentType);
}

/** Counts a refused request by its error. An error that is no refusal is not counted. */
export function countRefused(error: unknown, refused: CountRefused): void {
  const kind = error instanceof GraphQLError ? httpExtensionOf(error)?.kind : undefined;
  if (kind !== undefined) refused(kind);
}

/** The parameters of a request; undefined if the client left before it had sent all of them. Rejects with GraphQLErrors. */
export function readParams(
  request: IncomingMessage,
  { bytes, jsonDepth }: BodyLimits,
  claim: Claim,
): Promise<GraphQLParams | undefined> {
  if (methodOf(request) === 'GET') return Promise.try(paramsOfUrl, request.url ?? '', jsonDepth);
  return readBody(request, bytes, claim, (text) => paramsOfBody(text, jsonDepth));
}
