import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type Claim, MemoryRoom } from '../memory.ts';
import { requestError } from '../operation/request-error.ts';
import { Chunks } from '../rest/transport/chunks.ts';
import { bytesOnceParsed } from '../rest/transport/json-weight.ts';

/** The least memory for the bodies of all requests, in bytes. There is more if one body may be very large. */
const leastBytes = 64 * 2 ** 20;

/** The least number of bodies of the largest size that must fit into the memory for bodies. */
const largestBodies = 8;

/** The size above which the body of a request is large, in bytes. */
export const largeBody = 16_384;

/**
 * The memory for the bodies of requests, from their first byte to their answer. No body has more than `largest` bytes.
 */
export function createRequestRoom(largest: number, within?: MemoryRoom): MemoryRoom {
  return new MemoryRoom(Math.max(leastBytes, largestBodies * largest), { within, largeBytes: largeBody });
}

/**
 * Reads the body of a request and returns the value that `read` makes from its JSON text; undefined if the client left
 * before the body was complete. Memory is claimed for the text as it arrives, and once more for the value. Rejects with
 * GraphQLErrors, and with any error of `read`.
 */
export function readBody<T>(
  request: IncomingMessage,
  maxBytes: number,
  claim: Claim,
  read: (text: string) => T,
): Promise<T | undefined> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) {
    request.resume();
    return Promise.reject(tooLarge(maxBytes, `has ${declared}`));
  }
  return new Promise((resolve, reject) => {
    const chunks = new Chunks();
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
        const text = textOf(chunks.join());
        chunks.clear();
        if (!claim.resize(bytesOnceParsed(text))) throw noRoom();
        resolve(read(text));
      } catch (error) {
        reject(error);
      }
    });
    request.on('close', () => resolve(undefined));
  });
}

function noRoom(): Error {
  return requestError('noRoomForBody', 'There is no room for the bodies of more requests now.');
}

function textOf(body: Buffer): string {
  if (isUtf8(body)) return body.toString('utf8');
  throw requestError('badParameter', 'Expected the body to be UTF-8.');
}

function tooLarge(maxBytes: number, found: string): Error {
  const message = `The body exceeds a limit: at most ${maxBytes} bytes are allowed, but it ${found}.`;
  return requestError('largeBody', message);
}
