/**
 * Test set-up for the request path of a node: the real HTTP server with a fake configuration, a fake ledger
 * and fake permits.
 */
import { IncomingMessage, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { canServe } from '@gateway/shared/catalog';
import type { DialectName } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import type { Micros } from '@gateway/shared/money';
import { RefusedWork } from '@gateway/shared/refused-work';
import type {
  AccountRecord,
  KeyRecord,
  ModelRecord,
  PoolRecord,
  ProviderRecord,
  RouteRecord,
  SettingsRecord,
  TimeoutsRecord,
  UsageRecord,
} from '@gateway/shared/records';
import { digestOf, issueKey } from '@gateway/shared/secrets';
import type { Tracing } from '@gateway/shared/tracing';
import type {
  CompiledCredential,
  CompiledRoute,
  Config,
  ConfigStore,
  KeyStop,
  StoppedBy,
} from '../data-plane/config/config.ts';
import { IncomingBody } from '../data-plane/call/body.ts';
import { SharedBudget } from '../data-plane/call/shared-budget.ts';
import { SlowBodies } from '../data-plane/call/slow-bodies.ts';
import type { Dialect } from '../data-plane/dialects/dialect.ts';
import { COMPLETIONS, DIALECTS, UPSTREAM_DIALECTS } from '../data-plane/dialects/index.ts';
import { createLog } from '../data-plane/log.ts';
import type { Log } from '../data-plane/log.ts';
import { buildServer } from '../data-plane/http/server.ts';
import type { RotatedKeys } from '../data-plane/admission/rotated-keys.ts';
import type { Vitals } from '../data-plane/metrics.ts';
import type { Stage } from '../data-plane/node/departure.ts';
import type { ServerSettings } from '../data-plane/settings.ts';
import { SealedIds } from '../data-plane/state/sealed-ids.ts';
import type { Permit, Permits, RateLimitStatus } from '../data-plane/permits/permits.ts';
import type { Hold, Ledger } from '../data-plane/ledger/ledger.ts';
import type { UpstreamStates } from '../data-plane/upstreams/states.ts';

/** Settings of the fake configuration. */
export const SETTINGS: SettingsRecord = {
  kind: 'SETTINGS',
  id: 'settings',
  publicUrl: 'http://gateway.test:8080',
  consoleUrl: 'http://console.test:4000',
  poolRequestsFree: true,
  playgroundKey: Buffer.alloc(32, 7).toString('base64url'),
  stateKey: null,
  nodeIds: [],
};

/** Encrypts the ids of stored objects. All test nodes use the same key. */
const SEALED_IDS = new SealedIds(Buffer.alloc(32, 9));

/**
 * A ledger in memory that records holds and charges. Every wallet has enough money unless a test says
 * otherwise.
 */
export class FakeLedger implements Ledger {
  /** Charges that were committed, in order. */
  charges: UsageRecord[] = [];
  /** Records of requests that cost nothing. */
  free: UsageRecord[] = [];
  /** Number of open holds. */
  open = 0;
  /** Error of every hold, for instance of an empty wallet. */
  refuse: Error | undefined;
  /** Ids of wallets without money. */
  broke = new Set<string>();
  /** Error of every commit, for instance of a full disk. */
  failCommit: Error | undefined;
  /** Runs before each commit; the commit waits for its promise. */
  onCommit: () => Promise<void> = async () => undefined;

  async hold({ walletId }: KeyRecord, _price: Micros): Promise<Hold> {
    if (this.refuse) throw this.refuse;
    if (this.broke.has(walletId)) throw new GatewayError('insufficient_funds', 'Add credit.');
    this.open += 1;
    return {
      commit: async (usage) => {
        this.open -= 1;
        await this.onCommit();
        if (this.failCommit) throw this.failCommit;
        this.charges.push(usage);
      },
      release: () => {
        this.open -= 1;
      },
    };
  }

  report(usage: UsageRecord): void {
    this.free.push(usage);
  }
}

/** A configuration whose lists a test fills. */
export class FakeStore implements ConfigStore {
  settings = SETTINGS;
  keys: KeyRecord[] = [];
  modelList: ModelRecord[] = [];
  routes: CompiledRoute[] = [];
  pools: PoolRecord[] = [];
  accounts: AccountRecord[] = [];
  confirmedAt = Date.now();
  /** Simulates a node that has not received a configuration. */
  absent = false;
  #stopListener: (keys: ReadonlyMap<string, KeyStop>) => void = () => undefined;

  get current(): Config | undefined {
    if (this.absent) return undefined;
    return {
      revision: 1,
      confirmedAt: this.confirmedAt,
      settings: this.settings,
      sealedIds: SEALED_IDS,
      keyByDigest: (digest) =>
        this.keys.find((key) => key.digest === digest || key.previousDigest === digest),
      modelByName: (name) => this.modelList.find((model) => model.name === name),
      models: () => this.modelList,
      routesFor: (modelId, family) =>
        this.routes.filter(
          ({ route: { modelId: id, families }, provider: { protocols } }) =>
            id === modelId && canServe(family, { families, protocols }),
        ),
      poolBySubdomain: (subdomain) => this.pools.find((pool) => pool.subdomain === subdomain),
      hasPools: this.pools.length > 0,
      poolById: (id) => this.pools.find((pool) => pool.id === id),
      accountByWallet: (walletId) => this.accounts.find((account) => account.walletId === walletId),
    };
  }

  onKeysStopped(listener: (keys: ReadonlyMap<string, KeyStop>) => void): void {
    this.#stopListener = listener;
  }

  /**
   * Notifies the server that a key was stopped, as a new configuration does. `secrets` limits the stop to
   * some secrets of the key.
   */
  stop(keyId: string, by: StoppedBy = 'OWNER', secrets?: readonly string[]): void {
    this.#stopListener(new Map([[keyId, { by, ...(secrets && { secrets }) }]]));
  }
}

/** Permits that admit every request unless `refuse` is set. */
export class FakePermits implements Permits {
  /** Number of admitted requests whose permit was not returned. */
  admitted = 0;
  /** Error of every request, for instance of a pool whose rate limit is reached. */
  refuse: Error | undefined;
  /** The rate limit that the node reports in headers; undefined for no headers. */
  status: RateLimitStatus | undefined = { remaining: 41, resetMs: 6_500 };

  async admit(): Promise<Permit> {
    if (this.refuse) throw this.refuse;
    this.admitted += 1;
    return {
      giveBack: () => {
        this.admitted -= 1;
      },
    };
  }

  rateLimitStatus(): RateLimitStatus | undefined {
    return this.status;
  }
}

/** A valid API key of the main domain: its secret and its record, with these changes to the record. */
export function makeKey(changes: Partial<KeyRecord> = {}): { secret: string; record: KeyRecord } {
  const secret = issueKey();
  return {
    secret,
    record: {
      kind: 'API_KEY',
      id: 'key-1',
      digest: digestOf(secret),
      previousDigest: null,
      previousUntil: null,
      walletId: 'wallet-1',
      group: 'default',
      enabled: true,
      disabledReason: null,
      poolId: null,
      allowedModels: null,
      allowedIps: [],
      expiresAt: null,
      hasSpendLimit: false,
      hidden: false,
      ...changes,
    },
  };
}

/** A model for chat completions at 0.10 USD per request, with these changes. */
export function makeModel(changes: Partial<ModelRecord> = {}): ModelRecord {
  return {
    kind: 'MODEL',
    id: 'model-1',
    name: 'swift',
    displayName: 'Swift',
    description: 'Fast.',
    contextTokens: 128_000,
    traits: [],
    families: ['chat_completions'],
    prices: { default: { base: '100000', ratio: '1', price: '100000' } },
    limits: { maxChoices: 2, maxInputs: 8, maxBodyBytes: 33_554_432, serviceTiers: [] },
    passUnknown: false,
    storesState: false,
    stateRetentionDays: 30,
    createdAt: 1_760_000_000_000,
    ...changes,
  };
}

/** An empty request body, for calls that a test makes without a socket. */
export function makeIncoming(): IncomingBody {
  const memory = new SharedBudget({ total: 1, reserve: 0, floor: 0 });
  const parts = { memory, slow: new SlowBodies(() => 0), refusedWork: new RefusedWork(() => 0) };
  return new IncomingBody(new IncomingMessage(new Socket()), parts);
}

/** Values that replace the defaults of `makeRoute`. */
export interface RouteChanges {
  provider?: Partial<ProviderRecord>;
  route?: Partial<RouteRecord>;
  credentials?: (Omit<CompiledCredential, 'binding'> & Partial<CompiledCredential>)[];
  certificate?: CompiledCredential;
}

const LONG_MS = 120_000;
/** Timeouts of an upstream that do not end while a test runs, even on a busy machine. */
export const LONG_TIMEOUTS: TimeoutsRecord = {
  connectMs: LONG_MS,
  headersMs: LONG_MS,
  firstContentMs: LONG_MS,
  idleMs: LONG_MS,
  totalMs: LONG_MS,
};

/** A route of `model-1` to an upstream at this origin, with one credential. */
export function makeRoute(origin: string, changes: RouteChanges = {}): CompiledRoute {
  const id = changes.route?.id ?? 'route-1';
  return {
    route: {
      kind: 'ROUTE',
      id,
      modelId: 'model-1',
      providerId: `provider-of-${id}`,
      upstreamModel: 'vendor-model',
      families: ['chat_completions'],
      priority: 1,
      weight: 1,
      ...changes.route,
    },
    provider: {
      kind: 'PROVIDER',
      id: `provider-of-${id}`,
      name: 'Vendor',
      protocols: ['openai-chat'],
      baseUrl: `${origin}/v1`,
      timeouts: { connectMs: 2_000, headersMs: 2_000, firstContentMs: 2_000, idleMs: 2_000, totalMs: 20_000 },
      concurrencyLimit: null,
      allowPrivate: true,
      access: null,
      ...changes.provider,
    },
    credentials: (
      changes.credentials ?? [{ id: `credential-of-${id}`, origin, secret: 'vendor-secret' }]
    ).map((credential) => ({ binding: null, ...credential })),
    certificate: changes.certificate,
  };
}

/** A running node server and its fakes. */
export interface TestNode {
  store: FakeStore;
  ledger: FakeLedger;
  permits: FakePermits;
  /** A valid key of the main domain. */
  secret: string;
  port: number;
  /** Sends one request with the key, on a new connection, and resolves when the answer has ended. */
  call(options: CallOptions): Promise<CallResult>;
  /** Shuts the server down as the process does. The server cuts requests in progress with an error. */
  stop(): Promise<void>;
  /** Closes all connections at once, then the server. */
  close(): Promise<void>;
}

/** One request; by default a POST to chat completions. */
export interface CallOptions {
  method?: string;
  path?: string;
  /** Added to the default headers. An empty value removes a header. */
  headers?: Record<string, string>;
  /** A string or buffer is sent unchanged; any other value as JSON. */
  body?: unknown;
  /** Called with the text received so far. The client disconnects when the function returns true. */
  leaveWhen?: (text: string) => boolean;
  /** The client disconnects when this promise resolves. */
  leaveAfter?: Promise<void>;
  /** The client reads nothing until this promise resolves. */
  readAfter?: Promise<void>;
}

/** An answer. `broken` means that the connection closed before the HTTP message was complete. */
export interface CallResult {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  broken: boolean;
}

/** Parts of the server that a test replaces; all others have defaults. */
interface NodeParts {
  dialects?: Partial<Record<DialectName, Dialect>>;
  wallNow?: () => number;
  identityTokenFiles?: { AWS?: string; GOOGLE?: string };
  log?: Log;
  now?: () => number;
  ledger?: Ledger;
  rotatedKeys?: RotatedKeys;
  bodyMemoryBytes?: number;
  settings?: Partial<ServerSettings>;
  stage?: () => Stage;
  vitals?: () => Vitals;
  tracing?: Tracing;
  upstreamStates?: UpstreamStates;
}

/** Starts a server with one key and one model. The model has no route until the test adds one. */
export async function startNode(parts: NodeParts = {}): Promise<TestNode> {
  const store = new FakeStore();
  const ledger = new FakeLedger();
  const permits = new FakePermits();
  const { secret, record } = makeKey();
  store.keys.push(record);
  store.modelList.push(makeModel());
  const settings = { trustedProxies: [], maxConfigAgeMs: 86_400_000, ...parts.settings };
  const app = buildServer({
    store,
    ledger,
    permits,
    dialects: DIALECTS,
    upstreamDialects: UPSTREAM_DIALECTS,
    completions: COMPLETIONS,
    log: createLog({ instance: 'test', lowest: 'silent' }),
    ...parts,
    settings,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    store,
    ledger,
    permits,
    secret,
    port,
    call: (options) => call(port, secret, options),
    stop: () => app.close(),
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

/**
 * Sends one request. If the client is to disconnect (`leaveWhen`, `leaveAfter`), an error of the connection
 * gives a broken answer with status 0; otherwise the promise is rejected with that error.
 */
function call(port: number, secret: string, options: CallOptions): Promise<CallResult> {
  const { method = 'POST', path = '/v1/chat/completions', leaveWhen, leaveAfter } = options;
  const isRaw = typeof options.body === 'string' || Buffer.isBuffer(options.body);
  const body = isRaw ? options.body : options.body === undefined ? undefined : JSON.stringify(options.body);
  const headers: Record<string, string> = {
    authorization: `Bearer ${secret}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  for (const [name, value] of Object.entries(headers)) if (value === '') delete headers[name];
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, method, path, headers, agent: false },
      (response) => {
        let text = '';
        const finish = (broken: boolean) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, broken });
        response.setEncoding('utf8');
        const take = (piece: string) => {
          text += piece;
          if (leaveWhen?.(text)) request.destroy();
        };
        void (options.readAfter ?? Promise.resolve()).then(() => response.on('data', take));
        response.on('end', () => finish(false));
        response.on('error', () => finish(true));
      },
    );
    void leaveAfter?.then(() => request.destroy());
    const noAnswer: CallResult = { status: 0, headers: {}, text: '', broken: true };
    request.on('error', (error) => (leaveWhen || leaveAfter ? resolve(noAnswer) : reject(error)));
    request.end(body);
  });
}

/** Resolves when the condition is true. There is no time limit besides that of the test. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
