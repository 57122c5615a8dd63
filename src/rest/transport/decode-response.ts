import { UpstreamError } from '../errors.ts';
import { fromTransport, toUpstreamError } from '../response-errors.ts';
import { decompress, textOf } from './content-coding.ts';
import { type RawResponse, TransportError } from './transport.ts';

/** A response with a success status, its body as text: empty if it had none. */
export interface DecodedResponse {
  readonly status: number;
  readonly contentType: string;
  /** The `Cache-Control` header; empty if the response has none. */
  readonly cacheControl: string;
  readonly text: string;
}

/** Called with the result of a response, which is a success or an UpstreamError. */
export interface DecodedListener {
  readonly succeeded: (response: DecodedResponse) => void;
  readonly failed: (error: unknown) => void;
  /** Takes the function that reads a large body, and calls it once, when there is time. */
  readonly later: (read: () => void) => void;
}

/** The size above which a body takes milliseconds to read, in bytes. */
const largeBody = 2 ** 16;

/**
 * Decodes a response and releases it. Every status but 2xx gives an UpstreamError, and so does a body of more than `limit`
 * bytes. It calls back before it returns, unless the body is large or has a content coding: a promise would cost more than
 * the rest of the call. If the response was released before, its body counts as empty.
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

/** Turns a failure into the domain error that resolvers may see. */
export function toDomainError(error: unknown): unknown {
  return error instanceof TransportError ? fromTransport(error) : error;
}

/**
 * Reports the decoded response. `text` is undefined if the body could not be decoded. An error while reading the
 * response is reported as the call's failure: otherwise the call would never end.
 */
function tell(response: RawResponse, text: string | undefined, key: string, listener: DecodedListener): void {
  const { status, headers } = response;
  const { 'content-type': contentType = '', 'cache-control': cacheControl = '' } = headers;
  response.release();
  try {
    if (status < 200 || status > 299) throw toUpstreamError(status, headers, text ?? '', key);
    if (text === undefined) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
    // An HTML page of a proxy or of another server. The API never sends one, whatever the content type of its JSON.
    const isPage = contentType.startsWith('text/html') && text.trimStart().startsWith('<');
    if (isPage) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  } catch (error) {
    return listener.failed(error);
  }
  listener.succeeded({ status, contentType, cacheControl, text });
}

function textIn(body: Buffer): string | undefined {
  try {
    return textOf(body);
  } catch {
    return undefined;
  }
}
