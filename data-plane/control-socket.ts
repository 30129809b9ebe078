/** The node's WebSocket to the control plane: watched, and told apart from a peer that froze. */
import { createClient } from 'graphql-ws';
import type { Client as SocketClient } from 'graphql-ws';
import type { Addresses } from './addresses.ts';

const PING_EVERY_MS = 2_000;
const PONG_WITHIN_MS = 3_000;
const CONNECT_WITHIN_MS = 3_000;
/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const NORMAL_CLOSURE = 1_000;

/**
 * One socket without retries of its own: each new subscription connects, so that it names the present
 * revision.
 */
export function watchedSocket(addresses: Addresses, token: string): SocketClient {
  let pong: NodeJS.Timeout | undefined;
  let address = addresses.current;
  const calm = () => {
    clearTimeout(pong);
    pong = undefined;
  };
  // Timers run before sockets are read. If it was this process that stood still, the answer lies there by
  // now, and has been read before an immediate runs.
  const giveUp = () => {
    if (pong === undefined) return;
    calm();
    socket.terminate();
  };
  const socket = createClient({
    url: () => {
      address = addresses.current;
      return address.replace(/^http/, 'ws');
    },
    lazy: true,
    retryAttempts: 0,
    keepAlive: PING_EVERY_MS,
    connectionAckWaitTimeout: CONNECT_WITHIN_MS,
    connectionParams: { authorization: `Bearer ${token}` },
    on: {
      // keepAlive sends pings but does not mind missing answers: a frozen peer would go unnoticed for
      // minutes.
      ping: (received) => {
        if (!received) pong ??= setTimeout(() => setImmediate(giveUp), PONG_WITHIN_MS);
      },
      // Whatever comes, a large part of a snapshot before the answer too: who sends is not frozen.
      message: calm,
      closed: (event) => {
        calm();
        if (!isOwnWish(event)) addresses.leave(address);
      },
    },
  });
  return socket;
}

/** Closed by ourselves, because nothing is subscribed to any more. */
function isOwnWish(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'code' in event && event.code === NORMAL_CLOSURE;
}
