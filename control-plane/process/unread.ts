/** Ends answers that their clients do not read. */
import type { ServerResponse } from 'node:http';

/** Time after which an answer ends if its client reads nothing, in ms. */
const UNREAD_MS = 60_000;

/**
 * Ends an answer whose client reads nothing for `afterMs`, so that what the answer holds is free. An answer
 * without bytes that wait for the client goes on: then the server is slow.
 */
export function endIfUnread(response: ServerResponse, afterMs = UNREAD_MS): void {
  response.setTimeout(afterMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
