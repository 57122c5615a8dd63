import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The moment at which the client of each connection last took bytes that waited for it, or had taken all of them. */
const takenAt = new WeakMap<Socket, number>();

/** Notes that a client has taken what was sent. */
export function noteTaken(socket: Socket): void {
  takenAt.set(socket, performance.now());
}

/** Notes from now on when a client takes bytes of an answer. */
export function watchReader(response: ServerResponse): void {
  const { socket } = response.req;
  noteTaken(socket);
  response.on('drain', () => noteTaken(socket));
}

/**
 * The time since when the client of a connection has taken none of the bytes that wait for it; undefined if none wait. A
 * request that waits behind the answer does not count: it has no bytes yet.
 */
export function stuckSince(socket: Socket): number | undefined {
  return socket.writableLength > 0 ? takenAt.get(socket) : undefined;
}
