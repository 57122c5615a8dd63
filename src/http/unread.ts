import type { ServerResponse } from 'node:http';

/**
 * The longest time in which a client may read nothing of its answer, in milliseconds. Node reports a stalled connection
 * at the second timeout.
 */
const longestPauseMs = 7500;

/**
 * Closes the connection if its client reads nothing of the output that waits for it. If no output waits, the connection
 * stays open.
 */
export function closeIfUnread(response: ServerResponse): void {
  response.setTimeout(longestPauseMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
