import type { ServerResponse } from 'node:http';

/**
 * The longest time in which a client may read nothing of its answer, in milliseconds. Node reports a stalled connection
 * at the second timeout.
 */
const longestPauseMs = 7500;

/** The moments at which clients of large answers and of streams last took something, or had taken everything. */
const takenAt = new WeakMap<ServerResponse, number>();

/** Notes that the client of an answer has taken what was sent. */
export function noteTaken(response: ServerResponse): void {
  takenAt.set(response, performance.now());
}

/** The time since when a client has taken nothing of what waits for it; undefined if nothing waits. */
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
