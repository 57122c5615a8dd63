import { UpstreamError } from '../errors.ts';
import { fromTransport, toUpstreamError } from '../failures.ts';
import { decompress, textOf } from './content-coding.ts';
import { type RawResponse, TransportError } from './transport.ts';

/** A response with a status of success, its body as text: empty if there was none. */
export interface DecodedResponse {
  readonly status: number;
  readonly contentType: string;
  /** Empty without one. */
  readonly cacheControl: string;
  readonly text: string;
}

/** Called with what a response says: a success, or an UpstreamError. */
export interface DecodedListener {
  readonly succeeded: (response: DecodedResponse) => void;
  readonly failed: (error: unknown) => void;
  /** Is given what reads a large body, and calls it when there is time for that, once. */
  readonly later: (read: () => void) => void;
}

/** Larger bodies take milliseconds to read. In bytes. */
const largeBody = 2 ** 16;

/**
 * Decodes a response and releases it. Every status but 2xx is an UpstreamError, and so is a body of more than `limit`
 * bytes. Calls back before it returns unless the body is large or has a content coding: a promise would cost every call
 * more than what happens in it. If the response is released before, its body counts as empty.
 */
export function decodeResponse(response: RawResponse, key: string, limit: number, listener: DecodedListener): void {
  const { headers, body } = response;
  const coding = headers['content-encoding'];
  if (coding === undefined || body.length === 0) {
    if (body.length <= largeBody) tell(response, textIn(body), key, listener);
    else listener.later(() => tell(response, textIn(response.body), key, listener));
  } else {
    decompress(response, coding, limit, (bytes) => textSoon(bytes, listener)).then(
      (text) => tell(response, text, key, listener),
      () => tell(response, undefined, key, listener),
    );
  }
}

function textSoon(bytes: Buffer, listener: DecodedListener): Promise<string | undefined> | string | undefined {
  if (bytes.length <= largeBody) return textIn(bytes);
  return new Promise((resolve) => listener.later(() => resolve(textIn(bytes))));
}

/** A failure as the domain error that resolvers may see. */
export function toDomainError(error: unknown): unknown {
  return error instanceof TransportError ? fromTransport(error) : error;
}

/** What is thrown in reading a response is how the call failed: undici would swallow it, and the call never end. */
function tell(response: RawResponse, text: string | undefined, key: string, listener: DecodedListener): void {
  let decoded: DecodedResponse;
  response.release();
  try {
    decoded = toDecoded(response, text, key);
  } catch (error) {
    return listener.failed(error);
  }
  listener.succeeded(decoded);
}

/** `text` is undefined if the body could not be decoded. */
function toDecoded({ status, headers }: RawResponse, text: string | undefined, key: string): DecodedResponse {
  if (status < 200 || status > 299) throw toUpstreamError(status, headers, text ?? '', key);
  if (text === undefined) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  const { 'content-type': contentType = '', 'cache-control': cacheControl = '' } = headers;
  // A page of a proxy's or another server's; the API never sends one, whatever type it gives its JSON.
  const isPage = contentType.startsWith('text/html') && text.trimStart().startsWith('<');
  if (isPage) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  return { status, contentType, cacheControl, text };
}

function textIn(body: Buffer): string | undefined {
  try {
    return textOf(body);
  } catch {
    return undefined;
  }
}
