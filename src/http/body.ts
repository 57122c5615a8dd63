import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Chunks } from '../rest/chunks.ts';
import { requestError } from './request-error.ts';

/**
 * What `read` makes of the text of a request body; undefined where the client left before it was complete. Rejects with
 * GraphQLErrors, and with what `read` throws.
 */
export function readBody<T>(
  request: IncomingMessage,
  maxBytes: number,
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
      if (chunks.bytes <= maxBytes) return;
      chunks.clear();
      request.removeAllListeners('data');
      request.resume();
      reject(tooLarge(maxBytes, 'has more'));
    });
    request.on('end', () => {
      try {
        resolve(read(textOf(chunks.join())));
      } catch (error) {
        reject(error);
      }
    });
    request.on('close', () => resolve(undefined));
  });
}

function textOf(body: Buffer): string {
  if (isUtf8(body)) return body.toString('utf8');
  throw requestError('Expected the body to be UTF-8.', { code: 'BAD_USER_INPUT', status: 400 });
}

function tooLarge(maxBytes: number, found: string): Error {
  return requestError(`The body exceeds a limit: at most ${maxBytes} bytes are allowed, but it ${found}.`, {
    code: 'LIMIT_EXCEEDED',
    status: 413,
    // What is still under way of it is not worth waiting for.
    headers: { connection: 'close' },
  });
}
