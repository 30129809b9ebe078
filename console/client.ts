/**
 * Connects the console to the control plane: a urql client over HTTP, and one WebSocket for subscriptions.
 */
import { type Cache, cacheExchange, type CacheExchangeOpts } from '@urql/exchange-graphcache';
import type { Client as Socket, FormattedExecutionResult, Sink, SubscribePayload } from 'graphql-ws';
import {
  Client,
  type CombinedError,
  fetchExchange,
  mapExchange,
  type OperationResult,
  subscriptionExchange,
} from 'urql';
import { createStore, type Store } from './components/store.ts';
import type { Connection } from './connection.ts';
import { fetchOrTake, forgetEarly } from './early.ts';
import { onDemand } from './on-demand.ts';
import { createProof, type Proof } from './proof.ts';
import { createReach, type Reaching } from './reach.ts';

const ENDPOINT = '/graphql';
const LIVE_AFTER_MS = 1_500;

export interface Api {
  client: Client;
  connection: Store<Connection>;
  /** The proof of identity that a refused mutation waits for, and the dialogs that can show it. */
  proof: Pick<Proof, 'asked' | 'attach'>;
  /** Whether the service answers. */
  reach: Reaching;
  /** Closes the socket and stops the watcher. The next subscription opens another socket. */
  close(): void;
}

/**
 * Creates a client with an empty cache. Signing in or out creates a new client, so that no account sees data
 * that was loaded for another one. `onSignedOut` runs when the service reports UNAUTHENTICATED.
 */
export function createApi(onSignedOut: () => void): Api {
  const connection = createStore<Connection>('idle');
  const proof = createProof();
  const reach = createReach();
  const socket = onDemand(
    async () => {
      const live = await loadLive();
      reach.watcher = live.startWatcher(reach, client);
      return live.openSocket(ENDPOINT, connection);
    },
    (opened) => opened.dispose(),
  );
  const client = new Client({
    url: ENDPOINT,
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetch: fetchOrTake,
    fetchOptions: { credentials: 'same-origin' },
    exchanges: [
      mapExchange({
        onOperation: ({ kind }) => {
          // An answer that was requested before the mutation may be old.
          if (kind === 'mutation') forgetEarly();
        },
        onError: (error) => {
          // The other early requests failed for the same reason, and a page that opens later would show that.
          forgetEarly();
          if (codeOf(error) === 'UNAUTHENTICATED') onSignedOut();
        },
      }),
      reach.exchange,
      cacheExchange({ keys: KEYLESS, updates: UPDATES }),
      mapExchange({ onResult: withoutFailedFields }),
      proof.exchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({ unsubscribe: subscribe(socket.get(), { query, variables }, sink) }),
        }),
      }),
    ],
  });
  const close = () => {
    reach.watcher?.close();
    socket.close();
  };
  return { client, connection, proof, reach, close };
}

/**
 * The answer to a query without the root fields of which a part failed. Each is null then, and the cache
 * would tell all other queries so: that nobody is signed in, for instance.
 */
function withoutFailedFields(result: OperationResult<Record<string, unknown>>): OperationResult {
  const { operation, data, error } = result;
  if (operation.kind !== 'query' || !data || !error) return result;
  const failed = error.graphQLErrors
    .map(({ path }) => String(path?.[0]))
    .filter((name) => data[name] === null);
  if (failed.length === 0) return result;
  return { ...result, data: { ...data, ...Object.fromEntries(failed.map((name) => [name, undefined])) } };
}

/**
 * Loads what a page needs a little later: the socket, and what to show while the service does not answer. The
 * first data of a page is fresh, so this waits until the page itself has loaded.
 */
export async function loadLive() {
  await new Promise((resolve) => {
    setTimeout(resolve, LIVE_AFTER_MS);
  });
  return import('./live.ts');
}

// If the page unsubscribes before the socket's code has loaded, nothing is subscribed.
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

/** The stable error code of a failed operation; "NETWORK" if no answer came. */
export function codeOf(error: CombinedError): string {
  if (error.networkError) return 'NETWORK';
  const code = error.graphQLErrors[0]?.extensions['code'];
  return typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR';
}

/** The request id of a failed operation, for support requests; undefined if no answer came. */
export function requestIdOf(error: CombinedError): string | undefined {
  const id = error.graphQLErrors[0]?.extensions['requestId'];
  return typeof id === 'string' ? id : undefined;
}

// Types without an id, which the cache embeds in their parent. Graphcache warns about them in development
// only, so the production build leaves the list out.
const PARTS: readonly string[] = !import.meta.env.DEV
  ? []
  : [
      'PlaygroundHome',
      'PersonalIntelligence',
      'PersonalSwitch',
      'PersonalIntelligenceSettings',
      'PersonalIntelligenceHealth',
      'InjectionPreview',
      'ItemSource',
      'LearnedItem',
      'UsedItem',
      'MessageAttachment',
      'MessageTextDelta',
      'MessageReasoningDelta',
      'MessageCompleted',
      'MessageFailed',
      'ModelEndpoint',
      'ModelLimits',
      'ModelDeprecation',
      'ModelHealth',
      'ModelUptime',
      'FamilyUptime',
      'ServiceStatus',
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
      'UsageTimings',
      'UsageTimingPoint',
      'UsageTimingGroup',
      'RequestTimings',
      'TimePercentiles',
      'Traffic',
      'TrafficPoint',
      'TrafficRow',
      'TrafficFigures',
      'AuditActor',
      'WalletLease',
      'WalletBudget',
      'WalletUsageDay',
      'LedgerSubject',
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
      'SnippetHint',
      'NotificationPreferences',
      'PaymentOptions',
      'CardTopUpTerms',
      'DepositOption',
      'CryptoDeposit',
      'PaymentSettings',
      'Chain',
      'ChainToken',
      'SavedCard',
      'AutoTopUp',
    ];
// A new key or pool belongs to lists that are already cached: they are invalidated and loaded again.
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
  // There is only one storefront: a constant key makes live updates reach every query that reads it.
  PoolStorefront: () => 'the',
};
