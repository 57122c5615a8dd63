import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';

import { UpstreamError } from '../errors.ts';
import { toUpstreamError } from '../response-errors.ts';
import type { RawResponse } from './transport.ts';

/** A response with a success status. Without a body, its text is empty. */
export interface DecodedResponse extends Pick<RawResponse, 'status' | 'headers'> {
  readonly text: string;
}

/** Decides when large bodies are read. */
interface LargeReader {
  /** Calls `read` once, when there is time. */
  readonly later: (read: () => void) => void;
}

/** Reads large bodies at once. */
export const atOnce: LargeReader = { later: (read) => read() };

/** The size above which a body takes milliseconds to read, in bytes. */
const largeBody = 2 ** 16;

/**
 * The text of a response; undefined if it cannot be decoded, or has more than `limit` bytes once decoded. The result is
 * a promise only for a large body, and for one with a content coding. For any other body, a promise would cost more
 * than the rest of the call. The promise never rejects. A large body counts as empty if it is released before it is
 * read.
 */
export function decodeText(
  response: RawResponse,
  limit: number,
  reader: LargeReader,
): Promise<string | undefined> | string | undefined {
  const coding = response.headers['content-encoding'];
  if (coding === undefined || response.body.length === 0) return textIn(response, reader);
  return decompress(response, coding, limit, (body) => textIn({ body }, reader));
}

/** Decodes and checks in one pass: half the time of `isUtf8` and `toString` for a page of 100 rows. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

function textIn(
  source: { readonly body: Buffer },
  reader: LargeReader,
): Promise<string | undefined> | string | undefined {
  if (source.body.length <= largeBody) return textOf(source.body);
  return new Promise((resolve) => reader.later(() => resolve(textOf(source.body))));
}

/** The text of UTF-8 bytes without a byte order mark; undefined for anything else. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * A response as a success. Throws an UpstreamError for every status but 2xx, and if `text` is undefined because the
 * body could not be decoded. The error never quotes `key`.
 */
export function toDecoded({ status, headers }: RawResponse, text: string | undefined, key: string): DecodedResponse {
  if (status < 200 || status > 299) throw toUpstreamError(status, headers, text ?? '', key);
  if (text === undefined) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  // A page is from a proxy or another server. The API may send JSON, but no HTML, with the content type of a page.
  const isPage = headers['content-type']?.startsWith('text/html') === true && text.trimStart().startsWith('<');
  if (isPage) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  return { status, headers, text };
}

const inflateZlib = promisify(inflate);
const inflateBare = promisify(inflateRaw);

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  // Some servers leave the zlib frame out (RFC 9110 §8.4.1.2). A frame begins with 8 in its lower half byte.
  deflate: (bytes: Buffer, options: ZlibOptions) =>
    ((bytes[0] ?? 0) & 0x0f) === 8 ? inflateZlib(bytes, options) : inflateBare(bytes, options),
  br: promisify(brotliDecompress),
};

/** The content codings of responses, as `Accept-Encoding` lists them. */
export const acceptedCodings = 'gzip, deflate, br';

/** The maximum number of bodies decoded at a time, one for each thread of libuv. Each may grow to the largest size. */
const decodedTogether = 4;

let decoded = 0;
const waiting: (() => void)[] = [];

/** Counts one more body as being decoded. Returns a promise if the body has to wait for others, otherwise undefined. */
function enter(): Promise<void> | undefined {
  if (decoded === decodedTogether) return new Promise((resolve) => void waiting.push(resolve));
  decoded += 1;
  return undefined;
}

function leave(): void {
  const next = waiting.shift();
  if (next === undefined) decoded -= 1;
  else next();
}

/** The maximum number of content codings of a body. Each is a pass over the body. Servers send fewer. */
const maximumCodings = 3;

/**
 * Removes the content codings of a body, and resolves to the result of `read` for the decoded bytes. Resolves to
 * undefined if these would exceed `limit` bytes, or if a coding is unknown or malformed. A body counts as being decoded
 * until `read` is done.
 */
async function decompress<T>(
  source: { readonly body: Buffer },
  contentEncoding: string,
  limit: number,
  read: (bytes: Buffer) => T | Promise<T>,
): Promise<T | undefined> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > maximumCodings) return undefined;
  const place = enter();
  if (place !== undefined) await place;
  try {
    let bytes = source.body;
    for (const coding of codings.toReversed()) {
      if (!isKnown(coding)) return undefined;
      bytes = await decoders[coding](bytes, { maxOutputLength: limit });
    }
    return await read(bytes);
  } catch {
    return undefined;
  } finally {
    leave();
  }
}

function isKnown(coding: string): coding is keyof typeof decoders {
  return Object.hasOwn(decoders, coding);
}
