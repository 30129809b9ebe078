/** The console's only way to the control plane: one urql client over HTTP and one WebSocket for what is live. */
import { cacheExchange } from '@urql/exchange-graphcache';
import { createClient as createSocket } from 'graphql-ws';
import { Client, type CombinedError, fetchExchange, mapExchange, subscriptionExchange } from 'urql';
import { createStore, type Store } from './components/store.ts';

/** How fresh what is on the screen can be: live, trying again, or not asked for. */
export type Connection = 'idle' | 'live' | 'reconnecting';

const ENDPOINT = '/graphql';
const PING_MS = 10_000;
const PONG_TIMEOUT_MS = 5_000;
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 15_000;

export interface Api {
  client: Client;
  connection: Store<Connection>;
  /** Closes the socket; the client is not used again. */
  close(): void;
}

/** Makes a client with an empty cache. A new one is made when somebody signs in or out, so no account sees another's data. */
export function createApi(onSignedOut: () => void): Api {
  const connection = createStore<Connection>('idle');
  const socket = openSocket(connection);
  const client = new Client({
    url: ENDPOINT,
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetchOptions: { credentials: 'same-origin' },
    exchanges: [
      mapExchange({
        onError: (error) => {
          if (codeOf(error) === 'UNAUTHENTICATED') onSignedOut();
        },
      }),
      cacheExchange({ keys: KEYLESS }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: (request) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ query: request.query ?? '', variables: request.variables }, sink),
          }),
        }),
      }),
    ],
  });
  return { client, connection, close: () => void Promise.resolve(socket.dispose()).catch(() => undefined) };
}

/** The stable code of a failed operation, "NETWORK" when no answer came. */
export function codeOf(error: CombinedError): string {
  if (error.networkError) return 'NETWORK';
  const code = error.graphQLErrors[0]?.extensions['code'];
  return typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR';
}

/** The request id of a failed operation, for people who ask for help with it. */
export function requestIdOf(error: CombinedError): string | undefined {
  const id = error.graphQLErrors[0]?.extensions['requestId'];
  return typeof id === 'string' ? id : undefined;
}

// Parts of their parent, without an id of their own.
const PARTS = [
  'ModelEndpoint',
  'ModelLimits',
  'ModelDeprecation',
  'ModelHealth',
  'GroupPrice',
  'KeyRotation',
  'SignInOptions',
  'OidcProvider',
  'UsageTotals',
  'UsagePoint',
  'UsageSummary',
  'UsageGroupRow',
  'AuditActor',
  'WalletLease',
  'SecurityFactors',
  'PolicyAcceptance',
  'PoolModel',
  'RateLimit',
  'GroupRatio',
];
const KEYLESS = Object.fromEntries(PARTS.map((name) => [name, () => null]));

// A half-open connection is noticed by the missing pong, not by the browser, which may take minutes.
function openSocket(connection: Store<Connection>) {
  let pong: ReturnType<typeof setTimeout> | undefined;
  const forget = () => {
    clearTimeout(pong);
    pong = undefined;
  };
  const socket = createSocket({
    url: () => new URL(ENDPOINT, location.href).href.replace(/^http/, 'ws'),
    lazy: true,
    keepAlive: PING_MS,
    retryAttempts: Infinity,
    shouldRetry: () => true,
    retryWait: (tries) => {
      const pause = Math.min(RETRY_FIRST_MS * 2 ** tries, RETRY_MOST_MS) * (0.5 + Math.random());
      return new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
    },
    on: {
      connected: () => connection.set('live'),
      closed: () => {
        forget();
        if (connection.get() === 'live') connection.set('reconnecting');
      },
      error: () => connection.set('reconnecting'),
      ping: (received) => {
        if (!received)
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
