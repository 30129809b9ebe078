/**
 * A node's server over a configuration filled by hand and a ledger that only counts: for tests of the
 * request path.
 */
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { canServe } from '@gateway/shared/catalog';
import type { Micros } from '@gateway/shared/money';
import type {
  AccountRecord,
  KeyRecord,
  ModelRecord,
  PoolRecord,
  ProviderRecord,
  RouteRecord,
  SettingsRecord,
  UsageRecord,
} from '@gateway/shared/records';
import { digestOf, issueKey } from '@gateway/shared/secrets';
import type {
  CompiledCredential,
  CompiledRoute,
  Config,
  ConfigStore,
  StoppedBy,
} from '../data-plane/config/config.ts';
import { COMPLETIONS, DIALECTS } from '../data-plane/dialects/index.ts';
import { buildServer } from '../data-plane/server.ts';
import type { OldSecrets } from '../data-plane/old-secrets.ts';
import type { Permit, Permits, RateStanding } from '../data-plane/permits/permits.ts';
import type { Hold, Ledger } from '../data-plane/ledger/ledger.ts';

export const SETTINGS: SettingsRecord = {
  kind: 'SETTINGS',
  id: 'settings',
  publicUrl: 'http://gateway.test:8080',
  consoleUrl: 'http://console.test:4000',
  poolRequestsFree: true,
  playgroundKey: Buffer.alloc(32, 7).toString('base64url'),
  nodeIds: [],
};

/** Counts holds and charges; `failCommit` plays a full disk, `refuse` an empty wallet. */
export class FakeLedger implements Ledger {
  charges: UsageRecord[] = [];
  free: UsageRecord[] = [];
  open = 0;
  refuse: Error | undefined;
  failCommit: Error | undefined;
  /** Called between the order to commit and its completion. */
  onCommit: () => Promise<void> = async () => undefined;

  async hold(_key: KeyRecord, _price: Micros): Promise<Hold> {
    if (this.refuse) throw this.refuse;
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

/** A configuration that tests fill; it is compiled the slow way. */
export class FakeStore implements ConfigStore {
  settings = SETTINGS;
  keys: KeyRecord[] = [];
  modelList: ModelRecord[] = [];
  routes: CompiledRoute[] = [];
  pools: PoolRecord[] = [];
  accounts: AccountRecord[] = [];
  confirmedAt = Date.now();
  absent = false;
  #stopped: (keys: ReadonlyMap<string, StoppedBy>) => void = () => undefined;

  get current(): Config | undefined {
    if (this.absent) return undefined;
    return {
      revision: 1,
      confirmedAt: this.confirmedAt,
      settings: this.settings,
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

  onKeysStopped(listener: (keys: ReadonlyMap<string, StoppedBy>) => void): void {
    this.#stopped = listener;
  }

  stop(keyId: string, by: StoppedBy = 'OWNER'): void {
    this.#stopped(new Map([[keyId, by]]));
  }
}

/** Admits everything; `refuse` plays a pool whose cap is reached. */
export class FakePermits implements Permits {
  admitted = 0;
  refuse: Error | undefined;
  known: RateStanding | undefined = { remaining: 41, resetMs: 6_500 };

  async admit(): Promise<Permit> {
    if (this.refuse) throw this.refuse;
    this.admitted += 1;
    return {
      giveBack: () => {
        this.admitted -= 1;
      },
    };
  }

  standing(): RateStanding | undefined {
    return this.known;
  }
}

/** A key's record and its secret. */
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
    createdAt: 1_760_000_000_000,
    ...changes,
  };
}

export interface RouteChanges {
  provider?: Partial<ProviderRecord>;
  route?: Partial<RouteRecord>;
  credentials?: CompiledCredential[];
}

/** A route to an upstream at this origin. */
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
      ...changes.provider,
    },
    credentials: changes.credentials ?? [{ id: `credential-of-${id}`, origin, secret: 'vendor-secret' }],
  };
}

export interface TestNode {
  store: FakeStore;
  ledger: FakeLedger;
  permits: FakePermits;
  /** A valid key of the main domain. */
  secret: string;
  port: number;
  call(options: CallOptions): Promise<CallResult>;
  /** Stops as the process does: what is in flight is cut. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface CallOptions {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Called with the text so far; the client leaves when it answers true. */
  leaveWhen?: (text: string) => boolean;
  /** The client leaves when this resolves. */
  leaveAfter?: Promise<void>;
  /** The client reads nothing until this resolves. */
  readAfter?: Promise<void>;
}

/** `broken`: the connection ended without a proper end of the answer. */
export interface CallResult {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  broken: boolean;
}

/** Starts the server with one key, one model, and no route. */
export async function startNode(
  parts: { now?: () => number; ledger?: Ledger; oldSecrets?: OldSecrets } = {},
): Promise<TestNode> {
  const store = new FakeStore();
  const ledger = new FakeLedger();
  const permits = new FakePermits();
  const { secret, record } = makeKey();
  store.keys.push(record);
  store.modelList.push(makeModel());
  const settings = { trustedProxies: [], maxConfigAgeMs: 86_400_000 };
  const app = buildServer({
    store,
    ledger,
    permits,
    dialects: DIALECTS,
    completions: COMPLETIONS,
    settings,
    logLevel: 'silent',
    ...parts,
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
    const gone: CallResult = { status: 0, headers: {}, text: '', broken: true };
    request.on('error', (error) => (leaveWhen || leaveAfter ? resolve(gone) : reject(error)));
    request.end(body);
  });
}

/** Waits until the condition holds; the test's own time limit ends the waiting. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
