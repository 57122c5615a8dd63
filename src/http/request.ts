import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type Claim, MemoryRoom } from '../memory.ts';
import { type GraphQLParams, idMembers } from '../operation/params.ts';
import { RequestError } from '../operation/request-error.ts';
import { parseJson, refuseDeep } from '../rest/json.ts';
import { Chunks } from '../rest/transport/chunks.ts';
import { bytesOnceParsed } from '../rest/transport/json-weight.ts';
import { exactDigits, isObject, type JsonObject } from '../rest/values.ts';
import { type CountRefused, isRequestRefusal } from '../telemetry/refused-requests.ts';

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
 * The refusal of a request for its method, or for a body that is not declared as plain JSON; undefined if the request
 * may be read. Forms and plain text are refused, because pages of other sites can send them without a preflight.
 */
export function refusalOf(request: IncomingMessage): RequestError | undefined {
  const method = methodOf(request);
  if (method === 'GET') return undefined;
  if (method !== 'POST') return new RequestError('wrongMethod', `Expected GET or POST, but got ${method}.`);
  const { 'content-type': contentType = '', 'content-encoding': coding = 'identity' } = request.headers;
  if (!isJson(contentType)) {
    const found = contentType === '' ? 'none is declared' : `got ${contentType.slice(0, longestShown)}`;
    return new RequestError('notJson', `Expected a body of the content type application/json, but ${found}.`);
  }
  return coding === 'identity'
    ? undefined
    : new RequestError('encodedBody', 'Expected a body without a content coding.');
}

function isJson(contentType: string): boolean {
  return contentType === 'application/json' || /^application\/json\s*(?:;|$)/i.test(contentType);
}

/** Counts a refused request by its error. An error that is no refusal is not counted. */
export function countIfRefused(error: unknown, countRefused: CountRefused): void {
  if (error instanceof RequestError && isRequestRefusal(error.kind)) countRefused(error.kind);
}

/** The least size of the memory for all request bodies, in bytes. The memory is larger if a body may be very large. */
const leastBytes = 64 * 2 ** 20;

/** The memory for bodies has room for at least this number of bodies of the largest size. */
const largestBodies = 8;

/** The size above which a request body is large, in bytes. Large bodies cannot use up all room for bodies. */
export const largeBody = 16_384;

/**
 * The memory for the bodies of requests, from their first byte to their answer. No body has more than `largest` bytes.
 */
export function createRequestRoom(largest: number, within?: MemoryRoom): MemoryRoom {
  return new MemoryRoom(Math.max(leastBytes, largestBodies * largest), { within, largeBytes: largeBody });
}

/**
 * Reads the body of a request and returns the value that `read` makes from its JSON text; undefined if the client left
 * before the body was complete. The claim grows with the text as it arrives, and in the end also covers the value.
 * Rejects with RequestErrors, and with any error of `read`.
 */
export function readBody<T>(
  request: IncomingMessage,
  { bytes: maxBytes, jsonDepth }: BodyLimits,
  claim: Claim,
  read: (text: string, maxDepth: number) => T,
): Promise<T | undefined> {
  const { 'content-length': length } = request.headers;
  const declared = Number(length ?? 0);
  if (declared > maxBytes) {
    request.resume();
    return Promise.reject(tooLarge(maxBytes, `has ${declared}`));
  }
  return new Promise((resolve, reject) => {
    const chunks = new Chunks();
    if (length !== undefined) chunks.expected = declared;
    request.on('data', (chunk: Buffer) => {
      chunks.add(chunk);
      try {
        if (chunks.bytes > maxBytes) throw tooLarge(maxBytes, 'has more');
        if (!claim.resize(chunks.bytes)) throw noRoom();
      } catch (error) {
        chunks.clear();
        request.removeAllListeners('data');
        request.resume();
        reject(error);
      }
    });
    request.on('end', () => {
      try {
        const text = utf8Text(chunks.join());
        chunks.clear();
        if (!claim.resize(bytesOnceParsed(text))) throw noRoom();
        resolve(read(text, jsonDepth));
      } catch (error) {
        reject(error);
      }
    });
    request.on('close', () => resolve(undefined));
  });
}

function noRoom(): Error {
  return new RequestError('noRoomForBody', 'There is no room for the bodies of more requests now.');
}

function utf8Text(body: Buffer): string {
  if (isUtf8(body)) return body.toString('utf8');
  throw new RequestError('badParameter', 'Expected the body to be UTF-8.');
}

function tooLarge(maxBytes: number, found: string): Error {
  const message = `The body exceeds a limit: at most ${maxBytes} bytes are allowed, but it ${found}.`;
  return new RequestError('largeBody', message);
}

/** The parameters in a JSON body that nests at most `maxDepth` deep; integers keep every digit. */
export function paramsOfBody(text: string, maxDepth: number): GraphQLParams {
  const value = parsed(text, 'the body', maxDepth);
  if (!isJsonObject(value)) {
    throw badRequest(`Expected the body to be one JSON object with the member \`query\`, but got ${kindOf(value)}.`);
  }
  return toParams(value);
}

/** The parameters in the query of a URL, in which `variables` and `extensions` are JSON. */
export function paramsOfUrl(url: string, maxDepth: number): GraphQLParams {
  const start = url.indexOf('?');
  const search = new URLSearchParams(start === -1 ? '' : url.slice(start));
  const all: Record<string, unknown> = Object.fromEntries(search);
  for (const name of ['variables', 'extensions']) {
    const text = search.get(name);
    if (text !== null) all[name] = text === '' ? undefined : parsed(text, `\`${name}\``, maxDepth);
  }
  return toParams(all);
}

function toParams(all: JsonObject): GraphQLParams {
  return {
    query: member(all, 'query', isString, 'a string'),
    variables: member(all, 'variables', isJsonObject, 'an object'),
    operationName: member(all, 'operationName', isString, 'a string'),
    extensions: knownExtensions(member(all, 'extensions', isJsonObject, 'an object')),
    ids: picked(all, idMembers),
  };
}

function knownExtensions(all: JsonObject | undefined): JsonObject | undefined {
  if (all === undefined) return undefined;
  const { persistedQuery } = all;
  return {
    ...picked(all, ['cost', 'explain', 'persistedQuery']),
    ...(isObject(persistedQuery) && { persistedQuery: picked(persistedQuery, ['version', 'sha256Hash']) }),
  };
}

/** The members with these names. Objects and lists among them are emptied, because only scalars are wanted. */
function picked(all: JsonObject, names: readonly string[]): JsonObject {
  let found: Record<string, unknown> | undefined;
  for (const name of names) {
    if (all[name] === undefined) continue;
    found ??= {};
    found[name] = withoutContents(all[name]);
  }
  return found ?? noMembers;
}

/** The value for a request without any of these members. Most requests have none. */
const noMembers: JsonObject = Object.freeze({});

function withoutContents(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return isObject(value) ? {} : value;
}

function member<T>(
  all: JsonObject,
  name: string,
  accepts: (value: unknown) => value is T,
  expected: string,
): T | undefined {
  const value = all[name];
  // An empty `operationName` counts as left out (GraphQL over HTTP §5.2). Some hand-written clients send other members
  // empty, too.
  if (value === null || value === undefined || value === '') return undefined;
  if (accepts(value)) return value;
  throw badRequest(`Expected \`${name}\` to be ${expected}, but got ${kindOf(value)}.`);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** True for a JSON object. A number beyond 2^53 does not count, although it is kept as an object. */
function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value) && exactDigits(value) === undefined;
}

function parsed(text: string, what: string, maxDepth: number): unknown {
  try {
    refuseDeep(text, maxDepth);
  } catch {
    throw new RequestError('deepJson', `Expected ${what} to nest at most ${maxDepth} deep, but it nests deeper.`);
  }
  try {
    return parseJson(text);
  } catch {
    throw badRequest(`Expected ${what} to be JSON, but it cannot be parsed.`);
  }
}

function badRequest(message: string): RequestError {
  return new RequestError('badParameter', message);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isJsonObject(value)) return 'an object';
  return exactDigits(value) === undefined ? `a ${typeof value}` : 'a number';
}
