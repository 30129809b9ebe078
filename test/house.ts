/**
 * Starts the whole gateway for a test: control plane and nodes as real processes, on free ports, over a real
 * database.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { apiClient } from './house/client.ts';
import type { ApiClient } from './house/client.ts';
import { startProcess } from './house/process.ts';
import type { HouseProcess } from './house/process.ts';

export const ADMIN = { email: 'admin@example.com', password: 'correct horse battery staple' };
const APPLIED_WITHIN_MS = 20_000;

export interface HouseOptions {
  databaseUrl: string;
  /** The folder of the processes' data and logs, removed when the house stops; by default a temporary one. */
  dataDir?: string;
  nodes?: number;
  /** Where the control plane finds its database, if not at `databaseUrl`: past a proxy, for example. */
  controlDatabaseUrl?: string;
  /** Where a node reaches the control plane that listens at this address. Called for each node, in order. */
  reachControl?(url: string): Promise<string>;
  /** The port of the first node, where the control plane's Playground then finds it; otherwise a free one. */
  dataPort?: number;
  /** Extra variables for the control plane. */
  controlEnv?: Record<string, string>;
  /** Extra variables for the nodes, e.g. a preloaded module. */
  nodeEnv?: Record<string, string>;
  nodeExecArgv?: string[];
  /** Extra options of Node.js for the control plane. */
  controlExecArgv?: string[];
  /** The program of each node, from the root of the repository; by default that of this checkout. */
  nodeEntries?: readonly string[];
}

export interface HouseNode {
  name: string;
  /** The base address that clients use. */
  url: string;
  process: HouseProcess;
  /**
   * Starts the same node again (same folder, same token, same port) after `kill` or `stop`; `env` replaces
   * some of its variables.
   */
  restart(env?: Record<string, string>): Promise<void>;
}

export interface Customer {
  api: ApiClient;
  userId: string;
  walletId: string;
  keyId: string;
  key: string;
}

export interface House {
  dataDir: string;
  control: HouseProcess;
  controlUrl: string;
  nodes: HouseNode[];
  /** The first node's base address. */
  url: string;
  admin: ApiClient;
  database: pg.Pool;
  /** Starts the control plane again on its port. */
  restartControl(): Promise<void>;
  /** Waits until every connected node has applied what was written up to now. */
  applied(): Promise<void>;
  stop(): Promise<void>;
}

/** The planes over an empty, migrated or new database; the administrator is signed in. */
export async function startHouse(options: HouseOptions): Promise<House> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'gateway-house-'));
  const startControl = controlStarter(dataDir, options);
  let control = await startControl('0');
  const controlUrl = `http://127.0.0.1:${control.port}`;
  const admin = apiClient(controlUrl);
  await admin.mutate('signIn', ADMIN, 'viewer { id }');
  const database = new pg.Pool({ connectionString: options.databaseUrl, max: 4 });
  // Tests may kill the server.
  database.on('error', () => undefined);
  const nodes: HouseNode[] = [];
  for (let index = 0; index < (options.nodes ?? 1); index += 1) {
    nodes.push(
      await startNode({
        name: `node-${index + 1}`,
        dataDir,
        controlUrl: (await options.reachControl?.(controlUrl)) ?? controlUrl,
        admin,
        options,
        port: index === 0 ? (options.dataPort ?? 0) : 0,
        entry: options.nodeEntries?.[index] ?? 'data-plane/main.ts',
      }),
    );
  }
  return {
    dataDir,
    controlUrl,
    nodes,
    admin,
    database,
    get control() {
      return control;
    },
    get url() {
      return nodes[0]?.url ?? '';
    },
    restartControl: async () => {
      control = await startControl(String(control.port));
    },
    applied: () => applied(admin),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.process.stop()));
      await control.stop();
      await database.end();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** How to start this house's control plane on a port, any number of times. */
function controlStarter(
  dataDir: string,
  { databaseUrl, controlDatabaseUrl = databaseUrl, dataPort, controlEnv, controlExecArgv }: HouseOptions,
): (port: string) => Promise<HouseProcess> {
  const env = {
    DATABASE_URL: controlDatabaseUrl,
    SECRET_KEY: randomBytes(32).toString('base64url'),
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    ALLOW_PRIVATE_UPSTREAMS: 'on',
    PUBLIC_URL: 'http://localhost:8080',
    DEMO: 'off',
    ...(dataPort && { DATA_URL: `http://127.0.0.1:${dataPort}` }),
    ...controlEnv,
  };
  return (port) =>
    startProcess({
      entry: 'dist/control-plane/main.js',
      env: { ...env, CONTROL_PORT: port },
      execArgv: ['--import', join(import.meta.dirname, 'quick-argon2.hooks.ts'), ...(controlExecArgv ?? [])],
      logFile: join(dataDir, 'control.log'),
    });
}

interface NodeSetting {
  name: string;
  dataDir: string;
  controlUrl: string;
  admin: ApiClient;
  options: HouseOptions;
  port: number;
  entry: string;
}

async function startNode({
  name,
  dataDir,
  controlUrl,
  admin,
  options,
  port,
  entry,
}: NodeSetting): Promise<HouseNode> {
  const { token } = await admin.mutate<{ token: string }>(
    'adminNodeCreate',
    { name, reason: 'test' },
    'token',
  );
  const env = {
    HOST: '127.0.0.1',
    CONTROL_URL: controlUrl,
    NODE_NAME: name,
    NODE_TOKEN: token,
    DATA_DIR: join(dataDir, name),
    DRAIN_SECONDS: '1',
    ALLOW_PRIVATE_UPSTREAMS: 'on',
    ...options.nodeEnv,
  };
  const start = (port: string, more: Record<string, string> = {}): Promise<HouseProcess> =>
    startProcess({
      entry,
      env: { ...env, ...more, DATA_PORT: port },
      logFile: join(dataDir, `${name}.log`),
      ...(options.nodeExecArgv && { execArgv: options.nodeExecArgv }),
    });
  const node: HouseNode = {
    name,
    url: '',
    process: await start(String(port)),
    restart: async (more) => {
      node.process = await start(String(node.process.port), more);
    },
  };
  node.url = `http://127.0.0.1:${node.process.port}`;
  return node;
}

async function applied(admin: ApiClient): Promise<void> {
  const until = Date.now() + APPLIED_WITHIN_MS;
  for (;;) {
    const data = await admin.query<{ admin: { configRevision: number; dataPlaneNodes: NodeStatus[] } }>(
      'query { admin { configRevision dataPlaneNodes { name state appliedRevision } } }',
    );
    const behind = data.admin.dataPlaneNodes.filter(
      (node) => node.state !== 'OFFLINE' && node.appliedRevision < data.admin.configRevision,
    );
    if (behind.length === 0) return;
    if (Date.now() > until)
      throw new Error(`behind: ${JSON.stringify(behind)} of ${data.admin.configRevision}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

interface NodeStatus {
  name: string;
  state: string;
  appliedRevision: number;
}

/** An upstream that serves the named models under their own names, with a credential. */
export async function addUpstream(house: House, upstream: UpstreamSetting): Promise<string> {
  const reason = 'test';
  const { provider } = await house.admin.mutate<{ provider: { id: string } }>(
    'adminProviderUpsert',
    {
      name: upstream.name ?? 'upstream',
      protocols: [upstream.protocol ?? 'CHAT_COMPLETIONS'],
      baseUrl: upstream.baseUrl,
      access: upstream.access ?? null,
      enabled: true,
      reason,
    },
    'provider { id }',
  );
  await house.admin.mutate(
    'adminCredentialAdd',
    { providerId: provider.id, label: 'test', secret: upstream.secret ?? 'upstream-secret', reason },
    'provider { id }',
  );
  const { catalog } = await house.admin.query<{ catalog: { nodes: { id: string; name: string }[] } }>(
    'query { catalog { nodes { id name } } }',
  );
  for (const model of catalog.nodes.filter((item) => upstream.models.includes(item.name))) {
    await house.admin.mutate(
      'adminRouteUpsert',
      {
        modelId: model.id,
        providerId: provider.id,
        upstreamModel: model.name,
        priority: upstream.priority ?? 1,
        weight: 1,
        cost: upstream.cost ?? null,
        enabled: true,
        families: upstream.families ?? [upstream.protocol ?? 'CHAT_COMPLETIONS'],
        reason,
      },
      'route { id }',
    );
  }
  await house.applied();
  return provider.id;
}

export interface UpstreamSetting {
  baseUrl: string;
  models: string[];
  name?: string;
  protocol?: string;
  families?: string[];
  secret?: string;
  /** Of the routes; 1 by default. */
  priority?: number;
  /** Of a request over the routes, in dollars; unknown by default. */
  cost?: string;
  /** The members of `UpstreamAccessInput`. */
  access?: object;
}

/** A registered customer with an enabled key and the given balance in dollars. */
export async function addCustomer(house: House, balance: string, email = randomEmail()): Promise<Customer> {
  const api = apiClient(house.controlUrl);
  const { privacyPolicy } = await api.query<{ privacyPolicy: { version: string } }>(
    'query { privacyPolicy { version } }',
  );
  await api.mutate(
    'register',
    { email, password: ADMIN.password, acceptPolicyVersion: privacyPolicy.version },
    'viewer { id }',
  );
  const { viewer } = await api.query<{ viewer: { id: string; wallet: { id: string } } }>(
    'query { viewer { id wallet { id } } }',
  );
  if (balance !== '0') await topUp(house, viewer.id, balance);
  const { apiKey } = await api.mutate<{ apiKey: { id: string } }>(
    'apiKeyCreate',
    { name: 'test', idempotencyKey: email },
    'apiKey { id }',
  );
  const { secret } = await api.mutate<{ secret: string }>('apiKeyReveal', { id: apiKey.id }, 'secret');
  await house.applied();
  return { api, userId: viewer.id, walletId: viewer.wallet.id, keyId: apiKey.id, key: secret };
}

/** One more enabled key of a customer; it may have a limit of its own, in dollars a month. */
export async function addKey(
  house: House,
  { api }: Customer,
  limit: { spendLimit?: string } = {},
): Promise<{ keyId: string; key: string }> {
  const { apiKey } = await api.mutate<{ apiKey: { id: string } }>(
    'apiKeyCreate',
    { name: 'another', idempotencyKey: randomOnce(), ...limit },
    'apiKey { id }',
  );
  const { secret } = await api.mutate<{ secret: string }>('apiKeyReveal', { id: apiKey.id }, 'secret');
  await house.applied();
  return { keyId: apiKey.id, key: secret };
}

/** Adds dollars to a wallet, as CASH if not said otherwise; with the same `once` again, nothing more. */
export async function topUp(
  house: House,
  userId: string,
  amount: string,
  { once = randomOnce(), bucket = 'CASH' }: { once?: string; bucket?: 'CASH' | 'GIFT' } = {},
): Promise<void> {
  await house.admin.mutate(
    'adminWalletAdjust',
    { userId, bucket, amount, reason: 'test', idempotencyKey: once },
    'wallet { id }',
  );
}

function randomOnce(): string {
  return randomBytes(8).toString('hex');
}

function randomEmail(): string {
  return `customer-${randomBytes(6).toString('hex')}@example.com`;
}
