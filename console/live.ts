/**
 * The code that loads after a page: the WebSocket for subscriptions, and the notices while the service does
 * not answer. Its own chunk: pages without subscriptions never load it.
 */
import { type Client, createClient } from 'graphql-ws';
import type { Store } from './components/store.ts';
import type { Connection } from './connection.ts';

export { Repair } from './outage/repair.tsx';
export { PendingBar, ReachNotice } from './outage/signs.tsx';
export { startWatcher } from './outage/watcher.ts';

const PING_MS = 10_000;
const PONG_TIMEOUT_MS = 5_000;
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 15_000;

/**
 * Creates a socket that opens with the first subscription and reconnects automatically. Missing pongs detect
 * a half-open connection, which the browser would only notice after minutes.
 */
export function openSocket(endpoint: string, connection: Store<Connection>): Client {
  let pong: ReturnType<typeof setTimeout> | undefined;
  const forget = () => {
    clearTimeout(pong);
    pong = undefined;
  };
  const socket = createClient({
    url: () => new URL(endpoint, location.href).href.replace(/^http/, 'ws'),
    lazy: true,
    keepAlive: PING_MS,
    retryAttempts: Infinity,
    shouldRetry: () => true,
    retryWait,
    on: {
      connected: () => connection.set('live'),
      closed: () => {
        forget();
        if (connection.get() === 'live') connection.set('reconnecting');
      },
      error: () => connection.set('reconnecting'),
      ping: (received) => {
        if (received) return;
        pong ??= setTimeout(() => {
          forget();
          socket.terminate();
        }, PONG_TIMEOUT_MS);
      },
      pong: (received) => {
        if (received) forget();
      },
    },
  });
  return socket;
}

// Exponential back-off with random jitter, so that clients do not all reconnect to a restarted service at
// once.
function retryWait(attempts: number): Promise<void> {
  const pause = Math.min(RETRY_FIRST_MS * 2 ** attempts, RETRY_MOST_MS) * (0.5 + Math.random());
  return new Promise((resolve) => {
    setTimeout(resolve, pause);
  });
}
