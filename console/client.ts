/** The console's way to the control plane: one urql client over HTTP, and one WebSocket for what is live. */
import { type Cache, cacheExchange, type CacheExchangeOpts } from '@urql/exchange-graphcache';
import type { Client as Socket, FormattedExecutionResult, Sink, SubscribePayload } from 'graphql-ws';
import { Client, type CombinedError, fetchExchange, mapExchange, subscriptionExchange } from 'urql';
import { createStore, type Store } from './components/store.ts';
import { fetchOrTake } from './early.ts';
import { createProof, type Proof } from './proof.ts';

/** How fresh what is on the screen can be: live, trying again, or not asked for. */
export type Connection = 'idle' | 'live' | 'reconnecting';

const ENDPOINT = '/graphql';
const LIVE_AFTER_MS = 1_500;

export interface Api {
  client: Client;
  connection: Store<Connection>;
  /** The proof that is being asked for before a sensitive act. */
  proof: Proof['asked'];
  /** Closes the socket; the client is not used again. */
  close(): void;
}

/**
 * Makes a client with an empty cache. A new one is made when somebody signs in or out, so that no account
 * sees what
 * was loaded for another.
 */
export function createApi(onSignedOut: () => void): Api {
  const connection = createStore<Connection>('idle');
  const proof = createProof();
  let socket: Promise<Socket> | undefined;
  const open = () =>
    (socket ??= pageFirst()
      .then(() => import('./live.ts'))
      .then((live) => live.openSocket(ENDPOINT, connection)));
  const client = new Client({
    url: ENDPOINT,
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetch: fetchOrTake,
    fetchOptions: { credentials: 'same-origin' },
    exchanges: [
      mapExchange({
        onError: (error) => {
          if (codeOf(error) === 'UNAUTHENTICATED') onSignedOut();
        },
      }),
      cacheExchange({ keys: KEYLESS, updates: UPDATES }),
      proof.exchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({ unsubscribe: subscribe(open(), { query, variables }, sink) }),
        }),
      }),
    ],
  });
  const close = () => void socket?.then((opened) => opened.dispose()).catch(() => undefined);
  return { client, connection, proof: proof.asked, close };
}

// What is shown was asked for a moment ago: what makes it live waits until the page itself is there.
function pageFirst(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LIVE_AFTER_MS);
  });
}

// The reader may leave before the socket's code is there; nothing is subscribed then.
function subscribe(
  socket: Promise<Socket>,
  payload: SubscribePayload,
  sink: Sink<FormattedExecutionResult>,
): () => void {
  let left = false;
  let leave = () => {
    left = true;
  };
  socket.then(
    (opened) => {
      if (!left) leave = opened.subscribe(payload, sink);
    },
    (reason: unknown) => sink.error(reason),
  );
  return () => leave();
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

// Parts of their parent, without an id of their own: the cache keeps them there. It asks to be told so while
// the console is developed; what is built needs no list.
const PARTS: readonly string[] = !import.meta.env.DEV
  ? []
  : [
      'PlaygroundHome',
      'PersonalIntelligence',
      'PersonalSwitch',
      'MessageAttachment',
      'MessageTextDelta',
      'MessageReasoningDelta',
      'MessageCompleted',
      'MessageFailed',
      'ModelEndpoint',
      'ModelLimits',
      'ModelDeprecation',
      'ModelHealth',
      'GroupPrice',
      'KeyRotation',
      'SignInOptions',
      'AdminQuery',
      'UpstreamTimeouts',
      'UpstreamProbeResult',
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
      'QuoteLine',
      'SubdomainAvailability',
      'RequestReceipt',
      'UpstreamAttempt',
      'ExportLink',
      'RateLimit',
      'GroupRatio',
      'ClientSnippet',
      'SnippetFile',
      'NotificationPreferences',
    ];
// A key or a pool that was made stands in lists that were loaded before; they are asked for again.
const UPDATES: CacheExchangeOpts['updates'] = {
  Mutation: {
    apiKeyCreate: (_result, _arguments, cache) => forgetLists(cache, 'apiKeys'),
    poolPurchase: (_result, _arguments, cache) => forgetLists(cache, 'pools'),
  },
};

function forgetLists(cache: Cache, name: string): void {
  const viewer = cache.resolve('Query', 'viewer');
  if (typeof viewer !== 'string') return;
  const lists = cache.inspectFields(viewer).filter(({ fieldName }) => fieldName === name);
  for (const { fieldName, arguments: given } of lists) cache.invalidate(viewer, fieldName, given);
}

const KEYLESS = {
  ...Object.fromEntries(PARTS.map((name) => [name, () => null])),
  // There is one, so that what is told live stands wherever it is read.
  PoolStorefront: () => 'the',
};
