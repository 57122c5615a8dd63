import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { requestError } from './request-error.ts';

/** The text of a request body; undefined where the client left before it was complete. Throws GraphQLErrors. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        request.removeAllListeners('data');
        request.resume();
        reject(tooLarge(maxBytes));
      } else chunks.push(chunk);
    });
    request.on('end', () => {
      const [only] = chunks;
      const body = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
      if (isUtf8(body)) resolve(body.toString('utf8'));
      else reject(requestError('Expected the body to be UTF-8.', { code: 'BAD_USER_INPUT', status: 400 }));
    });
    request.on('close', () => resolve(undefined));
  });
}

function tooLarge(maxBytes: number): Error {
  return requestError(`The body is larger than ${maxBytes} bytes.`, { code: 'LIMIT_EXCEEDED', status: 413 });
}
