import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The most bytes that are read of a refused body, and the longest time in milliseconds, so that its sender gets to read
 * the answer.
 */
const mostBytes = 16 * 2 ** 20;
const longestMs = 2000;

/**
 * Delays the closing of a connection until the last answered request has been read, up to a bound. If data arrives at a
 * closed connection, the operating system resets it, and the client loses the answer that says why its body was refused
 * (RFC 9112 §9.6); many clients also stop at the end of the input. Node closes with `destroySoon` as soon as the last
 * answer is written. `onClosing` returns the last answered request.
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
