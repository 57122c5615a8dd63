import type { ServerResponse } from 'node:http';

/** A client that takes nothing of its answer for so long is taken for gone, in milliseconds; it is noticed the second time. */
const longestPauseMs = 7500;

/** From now on the connection is closed if the client takes nothing of what waits for it. One that waits itself loses nothing. */
export function closeIfUnread(response: ServerResponse): void {
  response.setTimeout(longestPauseMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
