import { explained, placeOf, reasonOf } from '../failure-reasons.ts';
import { BodyRoom } from './body-room.ts';
import { decodeBody, textOf } from './content-coding.ts';
import type { Route } from './pools.ts';
import { createTransport, type RawResponse, type TransportError } from './transport.ts';

/** How a document is fetched. */
export interface FetchOptions {
  /** The way to it: a proxy, and whom to trust. */
  readonly route?: Route | undefined;
  /** The largest document, decoded. */
  readonly maxBytes: number;
  /** How long it may take in all, in milliseconds. */
  readonly timeoutMs: number;
  /** Headers of the request, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The media types that it may have, if it has any; undefined: all. */
  readonly mediaTypes?: readonly string[];
  /** The `ETag` of what is known of it already. */
  readonly etag?: string | undefined;
}

/** A document, and what tells whether it has changed. */
export interface Fetched {
  readonly text: string;
  readonly etag: string | undefined;
}

/** Most characters of a content type that a message shows. */
const mostOfType = 100;

/** A document that could not be fetched. The message says why in words for an operator, and quotes nothing of it. */
class FetchError extends Error {
  override readonly name = 'FetchError';
}

/**
 * A small document of another server than the upstream, on a connection of its own that is closed afterwards; undefined if it
 * still has the `etag` (RFC 9110 §13.1.2). Redirects are not followed. Rejects with a FetchError.
 */
export async function fetchDocument(url: string, options: FetchOptions): Promise<Fetched | undefined> {
  const { origin, pathname, search } = new URL(url);
  const { route, maxBytes } = options;
  // Twice the size, because a room lets a large body take three quarters of it only.
  const room = new BodyRoom({ operation: maxBytes, process: 2 * maxBytes });
  const transport = createTransport({ origin, route, connections: 1, maxBodyBytes: maxBytes, room });
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const headers = {
    'accept-encoding': 'identity',
    ...options.headers,
    ...(options.etag !== undefined && { 'if-none-match': options.etag }),
  };
  const sent = transport.send(
    { method: 'GET', target: pathname + search, headers },
    { responded: resolve, failed: (error) => reject(new FetchError(whyNot(error), { cause: error })) },
  );
  const timer = setTimeout(() => {
    reject(new FetchError(`no answer within ${options.timeoutMs} milliseconds`));
    sent.abort();
  }, options.timeoutMs);
  try {
    return await documentOf(await promise, options);
  } finally {
    clearTimeout(timer);
    await transport.close();
  }
}

function whyNot(error: TransportError): string {
  if (error.fault === 'invalid') return 'the answer is too large, or it is not HTTP';
  return explained(reasonOf(error) ?? 'OTHER', placeOf(error));
}

async function documentOf({ status, headers, body }: RawResponse, options: FetchOptions): Promise<Fetched | undefined> {
  if (status === 304 && options.etag !== undefined) return undefined;
  if (status >= 300 && status < 400) throw new FetchError(`it redirects (status ${status}), which is not followed`);
  if (status !== 200) throw new FetchError(`expected status 200, but got ${status}`);
  checkMediaType(headers['content-type'], options.mediaTypes);
  const coding = headers['content-encoding'];
  try {
    const text = coding === undefined ? textOf(body) : await decodeBody(body, coding, options.maxBytes);
    return { text, etag: headers['etag'] };
  } catch (error) {
    throw new FetchError('the answer cannot be decoded, or it is too large', { cause: error });
  }
}

function checkMediaType(contentType = '', mediaTypes: readonly string[] | undefined): void {
  const given = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  // Some servers of files send none: then the content decides alone.
  if (mediaTypes === undefined || given === '' || mediaTypes.includes(given)) return;
  throw new FetchError(`expected the content type ${mediaTypes.join(' or ')}, but got ${given.slice(0, mostOfType)}`);
}
