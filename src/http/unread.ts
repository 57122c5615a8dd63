import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The moment at which the client of each connection last took bytes that waited for it, or had taken all of them. */
const takenAt = new WeakMap<Socket, number>();

/** Notes that a client has taken what was sent. */
export function noteTaken({ req: { socket } }: ServerResponse): void {
  takenAt.set(socket, performance.now());
}

/** Notes from now on when a client takes bytes of an answer. */
export function watchReader(response: ServerResponse): void {
  noteTaken(response);
  response.on('drain', () => noteTaken(response));
}

/** The time since when a client has taken none of the bytes that wait for it; undefined if none wait. */
export function stuckSince(response: ServerResponse): number | undefined {
  return response.writableLength > 0 ? takenAt.get(response.req.socket) : undefined;
}
