/** How a stopping node sends its traffic elsewhere without failing a request. */
import { Server as NetServer } from 'node:net';
import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * `serving`; `leaving`: not ready, but serves every request and closes its connection; `draining`: refuses
 * new requests.
 */
export type Stage = 'serving' | 'leaving' | 'draining';

/** Time for which `/readyz` is 503 while the node still accepts connections: two health checks of a proxy. */
const UNREADY_MS = 5_000;
/** Time for which the last connections are served after the listener was closed. */
const LAST_CONNECTIONS_MS = 2_000;
/** Largest part of a short drain that each of the two times may take. */
const PART = 0.1;

/**
 * Leaves in steps: not ready; then without a listener, so that proxies try another node; then `draining`.
 * `drainMs` is the whole time that the node has. Resolves when the node refuses new requests.
 */
export async function depart(
  server: Server,
  { drainMs, enter }: { drainMs: number; enter(stage: Stage): void },
): Promise<void> {
  enter('leaving');
  await pause(Math.min(UNREADY_MS, drainMs * PART));
  stopListening(server);
  await pause(Math.min(LAST_CONNECTIONS_MS, drainMs * PART));
  enter('draining');
}

/**
 * Closes the listener and no connection. `close` of an HTTP server would also close idle connections, on
 * which a proxy may be sending a request at this moment.
 */
function stopListening(server: Server): void {
  NetServer.prototype.close.call(server);
}
