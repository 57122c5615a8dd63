import type { ServerResponse } from 'node:http';

/**
 * The longest time in which a client may read nothing of its answer, in milliseconds. Node reports a stalled connection
 * at the second timeout.
 */
const longestPauseMs = 7500;

/** The moment at which each client last took bytes of an answer that waits for it, or had taken all of them. */
const takenAt = new WeakMap<ServerResponse, number>();

/** Notes that a client has taken what was sent. */
export function noteTaken(response: ServerResponse): void {
  takenAt.set(response, performance.now());
}

/** The time since when a client has taken none of the bytes that wait for it; undefined if none wait. */
export function stuckSince(response: ServerResponse): number | undefined {
  return response.writableLength > 0 ? takenAt.get(response) : undefined;
}

/**
 * Closes the connection if its client reads nothing of the output that waits for it. If no output waits, the connection
 * stays open.
 */
export function closeIfUnread(response: ServerResponse): void {
  noteTaken(response);
  response.on('drain', () => noteTaken(response));
  response.setTimeout(longestPauseMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
