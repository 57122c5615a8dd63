import { MemoryRoom } from '../../memory.ts';
import { explained, placeOf, reasonOf } from '../failure-reasons.ts';
import type { Route } from './connect.ts';
import { atOnce, decodeText } from './decode-response.ts';
import { askOnce, type RawResponse, Transport, TransportError } from './transport.ts';

/** Options of a fetch. */
export interface FetchOptions {
  readonly route?: Route | undefined;
  /** The largest document, decoded, in bytes. */
  readonly maxBytes: number;
  /** The longest that the fetch may take. */
  readonly timeoutMs: number;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The accepted media types; undefined if all are accepted. A document without a media type is always accepted. */
  readonly mediaTypes?: readonly string[];
  /** The `ETag` of the known version, if there is one. */
  readonly etag?: string | undefined;
}

/** A document and its `ETag`. */
export interface Fetched {
  readonly text: string;
  readonly etag: string | undefined;
}

/** The most characters of a content type in a message. */
const mostOfType = 100;

/** The message is for operators, and quotes nothing of the document. */
class FetchError extends Error {
  override readonly name = 'FetchError';
}

/**
 * Fetches a small document from a server other than the upstream, on a connection of its own, without redirects.
 * Resolves to undefined if the `etag` is unchanged (RFC 9110 §13.1.2). Rejects with a FetchError.
 */
export async function fetchDocument(url: string, options: FetchOptions): Promise<Fetched | undefined> {
  const { origin, pathname, search } = new URL(url);
  const { route, maxBytes, timeoutMs } = options;
  const transport = new Transport({
    ...{ origin, route, connections: 1, maxBodyBytes: maxBytes },
    room: new MemoryRoom(maxBytes),
  });
  const headers = {
    'accept-encoding': 'identity',
    ...options.headers,
    ...(options.etag !== undefined && { 'if-none-match': options.etag }),
  };
  try {
    const request = { method: 'GET', target: pathname + search, headers } as const;
    return await documentOf(await askOnce(transport, request, timeoutMs), options);
  } catch (error) {
    throw error instanceof TransportError ? new FetchError(whyNot(error, timeoutMs), { cause: error }) : error;
  } finally {
    transport.close();
  }
}

function whyNot(error: TransportError, timeoutMs: number): string {
  if (error.fault === 'aborted') return `no answer within ${timeoutMs} milliseconds`;
  if (error.fault === 'invalid') return 'the answer is too large, or it is not HTTP';
  return explained(reasonOf(error) ?? 'OTHER', placeOf(error));
}

async function documentOf(response: RawResponse, options: FetchOptions): Promise<Fetched | undefined> {
  const { status, headers } = response;
  if (status === 304 && options.etag !== undefined) return undefined;
  if (status >= 300 && status < 400) throw new FetchError(`it redirects (status ${status}), which is not followed`);
  if (status !== 200) throw new FetchError(`expected status 200, but got ${status}`);
  checkMediaType(headers['content-type'], options.mediaTypes);
  const text = await decodeText(response, options.maxBytes, atOnce);
  if (text === undefined) throw new FetchError('the answer cannot be decoded, or it is too large');
  return { text, etag: headers['etag'] };
}

function checkMediaType(contentType = '', mediaTypes: readonly string[] | undefined): void {
  const given = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  // Some file servers send no content type. Then only the content decides.
  if (mediaTypes === undefined || given === '' || mediaTypes.includes(given)) return;
  throw new FetchError(`expected the content type ${mediaTypes.join(' or ')}, but got ${given.slice(0, mostOfType)}`);
}
