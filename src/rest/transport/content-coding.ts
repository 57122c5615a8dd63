import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';

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
export async function decompress<T>(
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
