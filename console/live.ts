/** The WebSocket that carries what is live. A chunk of its own: pages without anything live never load it. */
import { type Client, createClient } from 'graphql-ws';
import type { Connection } from './client.ts';
import type { Store } from './components/store.ts';

const PING_MS = 10_000;
const PONG_TIMEOUT_MS = 5_000;
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 15_000;

/**
 * A socket that opens with the first subscription and comes back by itself. A half-open connection is
 * noticed by the
 * missing pong, not by the browser, which may take minutes.
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

// Half of each pause is chance, so that a restarted service is not met by everybody at once.
function retryWait(tries: number): Promise<void> {
  const pause = Math.min(RETRY_FIRST_MS * 2 ** tries, RETRY_MOST_MS) * (0.5 + Math.random());
  return new Promise((resolve) => {
    setTimeout(resolve, pause);
  });
}
