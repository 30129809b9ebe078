/** How a stopping node sends its traffic elsewhere without failing a request. */
import { Server as NetServer } from 'node:net';
import type { Server } from 'node:http';
import { setImmediate as nextPass, setTimeout as pause } from 'node:timers/promises';

/**
 * `serving`; `leaving`: not ready, but serves every request and closes its connection; `draining`: has no
 * listener and opens no WebSocket, but serves every request on an open connection; `ended`: refuses requests.
 */
export type Stage = 'serving' | 'leaving' | 'draining' | 'ended';

/** Time for which `/readyz` is 503 while the node still accepts connections: two health checks of a proxy. */
const UNREADY_MS = 5_000;
/** Time without a request after which the idle connections of a draining node are closed. */
const QUIET_MS = 2_000;
/** Largest part of a short drain that UNREADY_MS and QUIET_MS may take each. */
const PART = 0.1;
/** Time between two looks at the traffic. */
const LOOK_MS = 20;
/** Longest pass of the event loop after which the listener may close. */
const SHORT_PASS_MS = 0.3;
/** Maximum time to wait for such a pass. */
const SHORT_PASS_WITHIN_MS = 1_000;

/** Numbers of requests. */
interface Traffic {
  readonly inflight: number;
  /** Those that have ended. */
  readonly served: number;
}

/** How a node leaves. */
interface Departure {
  /** The whole time that the node has. */
  drainMs: number;
  /** Called with each new stage. */
  enter(stage: Stage): void;
  /** Is read again and again. */
  traffic: Traffic;
}

/**
 * Leaves in steps: not ready; then without a listener, so that proxies try another node, until no request
 * has come for a while; then it refuses requests. Resolves when the node has ended.
 *
 * An answer that began before the node left has promised to keep its connection, and a proxy may send the
 * next request on it at any moment. To close it then would fail that request, and so would to refuse it.
 */
export async function depart(server: Server, { drainMs, enter, traffic }: Departure): Promise<void> {
  const until = performance.now() + drainMs;
  enter('leaving');
  await pause(Math.min(UNREADY_MS, drainMs * PART));
  await stopListening(server, drainMs > 0 ? SHORT_PASS_WITHIN_MS : 0);
  enter('draining');
  await untilQuiet(traffic, { quietMs: Math.min(QUIET_MS, drainMs * PART), until });
  enter('ended');
}

/** Resolves when no request was in progress for `quietMs`, at the latest at `until` (monotonic, in ms). */
async function untilQuiet(traffic: Traffic, { quietMs, until }: { quietMs: number; until: number }) {
  let { served } = traffic;
  let since = performance.now();
  while (performance.now() < until) {
    if (traffic.inflight > 0 || traffic.served !== served) since = performance.now();
    if (performance.now() - since >= quietMs) return;
    ({ served } = traffic);
    await pause(LOOK_MS);
  }
}

/**
 * Closes the listener and no connection. `close` of an HTTP server would also close idle connections, on
 * which a proxy may be sending a request at this moment. The system resets connections that wait to be
 * accepted, and Node accepts one in each pass of the event loop. So the listener closes after a short pass
 * that had none to accept.
 */
async function stopListening(server: Server, withinMs: number): Promise<void> {
  let accepted = 0;
  const count = (): void => void (accepted += 1);
  server.on('connection', count);
  const until = performance.now() + withinMs;
  for (let begun = performance.now(); ; begun = performance.now()) {
    accepted = 0;
    await nextPass();
    const now = performance.now();
    if ((accepted === 0 && now - begun < SHORT_PASS_MS) || now > until) break;
  }
  NetServer.prototype.close.call(server);
  server.off('connection', count);
}
