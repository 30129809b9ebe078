/** The node's WebSocket to the control plane, which detects a frozen peer. */
import { createClient } from 'graphql-ws';
import type { Client as SocketClient } from 'graphql-ws';
import { socketWithHeaders } from '../upstreams/socket-with-headers.ts';
import type { ControlAddresses } from './addresses.ts';

const PING_EVERY_MS = 2_000;
const PONG_WITHIN_MS = 3_000;
const CONNECT_WITHIN_MS = 3_000;
/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const NORMAL_CLOSURE = 1_000;

/**
 * Creates the socket. It does not retry automatically: each new subscription connects and names the revision
 * that the node has then. A connection without any message for 3 s after a ping is terminated.
 */
export function createControlSocket(addresses: ControlAddresses, token: string): SocketClient {
  let pongTimeout: NodeJS.Timeout | undefined;
  let address = addresses.current;
  const clearPongTimeout = () => {
    clearTimeout(pongTimeout);
    pongTimeout = undefined;
  };
  // Timers run before sockets are read. If this process itself was frozen, the answer is waiting in the
  // socket and is read before an immediate runs.
  const terminateIfSilent = () => {
    if (pongTimeout === undefined) return;
    clearPongTimeout();
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
    // The header identifies the node before the control plane accepts the socket.
    webSocketImpl: socketWithHeaders({ authorization: `Bearer ${token}` }),
    on: {
      // keepAlive sends pings but ignores missing answers: a frozen peer would go unnoticed for minutes.
      ping: (received) => {
        if (!received) pongTimeout ??= setTimeout(() => setImmediate(terminateIfSilent), PONG_WITHIN_MS);
      },
      // Every message counts as a sign of life, because a large part of a snapshot may arrive before the
      // pong.
      message: clearPongTimeout,
      closed: (event) => {
        clearPongTimeout();
        if (!isClosedByUs(event)) addresses.failOver(address);
      },
    },
  });
  return socket;
}

/** Whether this side closed the socket, because no subscription is left. */
function isClosedByUs(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'code' in event && event.code === NORMAL_CLOSURE;
}
