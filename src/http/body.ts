import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Chunks } from '../rest/chunks.ts';
import { requestError } from './request-error.ts';

/** The text of a request body; undefined where the client left before it was complete. Throws GraphQLErrors. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
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
      const body = chunks.join();
      if (isUtf8(body)) resolve(body.toString('utf8'));
      else reject(requestError('Expected the body to be UTF-8.', { code: 'BAD_USER_INPUT', status: 400 }));
    });
    request.on('close', () => resolve(undefined));
  });
}

function tooLarge(maxBytes: number, found: string): Error {
  return requestError(`The body exceeds a limit: at most ${maxBytes} bytes are allowed, but it ${found}.`, {
    code: 'LIMIT_EXCEEDED',
    status: 413,
    // What is still under way of it is not worth waiting for.
    headers: { connection: 'close' },
  });
}
