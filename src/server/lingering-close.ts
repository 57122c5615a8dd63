import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** What is read of a body that was refused, so that its sender gets to the answer: bytes, and milliseconds. */
const mostBytes = 16 * 2 ** 20;
const longestMs = 2000;

/**
 * Closes a connection only once the request that was answered last has been read, or a bound of it. A system that is sent more
 * to a closed connection resets it, and the client loses the answer that says why its body was refused (RFC 9112 §9.6); many
 * also stop at the end of what they read. Node closes by `destroySoon` as soon as the last answer is written. `onClosing`
 * returns the request that was answered last.
 */
export function closeAfterReading(socket: Socket, onClosing: () => IncomingMessage | undefined): void {
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    const request = onClosing();
    if (request === undefined || request.complete || socket.destroyed) return close();
    let bytes = 0;
    const late = setTimeout(close, longestMs);
    socket.once('close', () => clearTimeout(late));
    request.once('end', close);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) close();
    });
    request.resume();
  };
}
