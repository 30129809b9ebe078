/**
 * Starts a node: settings → journal → saved configuration → control plane → listening. Stops it: drain →
 * exit.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compiler } from './config/compile.ts';
import { createFeed } from './config/feed.ts';
import type { Feed } from './config/feed.ts';
import { ControlClock } from './config/control-clock.ts';
import { ConfigFile } from './config/file.ts';
import { bindFolder, loadNodeKeys } from './config/identity.ts';
import { createStore } from './config/store.ts';
import type { WritableStore } from './config/store.ts';
import { RemoteIdempotencyStore } from './admission/idempotency.ts';
import type { IdempotencyStoreParts } from './admission/idempotency.ts';
import { connectControl } from './control/client.ts';
import type { Control } from './control/client.ts';
import { COMPLETIONS, DIALECTS, UPSTREAM_DIALECTS } from './dialects/index.ts';
import { openLedger } from './ledger/open-ledger.ts';
import type { OpenLedger } from './ledger/open-ledger.ts';
import { createLog } from './log.ts';
import type { Log } from './log.ts';
import { depart } from './node/departure.ts';
import type { Stage } from './node/departure.ts';
import { startMembership } from './node/membership.ts';
import type { Vitals } from './metrics.ts';
import { AloneMark } from './permits/alone-mark.ts';
import { RotatedKeys } from './admission/rotated-keys.ts';
import { NodePermits } from './permits/permits.ts';
import { readNodeSettings } from './node/node-settings.ts';
import type { NodeSettings } from './node/node-settings.ts';
import { buildServer } from './http/server.ts';
import { readServerSettings } from './settings.ts';
import { readIdentityTokenFiles } from './upstreams/clouds/identity-tokens.ts';
import { UpstreamStates } from './upstreams/states.ts';
import { RELEASE } from '@gateway/shared/release';
import { withSecretFiles } from '@gateway/shared/secret-files';

/**
 * Time that the start waits for the control plane and a configuration before it reports ready anyway, in
 * ms.
 */
const FIRST_CONFIG_MS = 3_000;
/**
 * Time that the leases have to close at shutdown, in ms: little if the node does not drain, as under `npm
 * start`.
 */
const CLOSING_MS = { patient: 5_000, hasty: 300 };

/** Time that the control plane has at shutdown to acknowledge each of the node's last messages, in ms. */
const LEAVING_MS = { patient: 2_000, hasty: 300 };

/** Time that the remaining requests have at shutdown to send the error that cuts them, in ms. */
const CUTTING_MS = 300;

/** Clock and random numbers outside of tests. */
const REAL = { now: () => performance.now(), random: Math.random };

interface Node {
  settings: NodeSettings;
  log: Log;
  control: Control;
  store: WritableStore;
  ledger: OpenLedger;
  permits: NodePermits;
  idempotency: RemoteIdempotencyStore;
  feed: Feed;
  compiler: Compiler;
  upstreamStates: UpstreamStates;
  rotatedKeys: RotatedKeys;
  server: ReturnType<typeof buildServer>;
  traffic: { inflight: number; served: number };
  /** The node's id; undefined until the control plane has registered this process. */
  id: string | undefined;
  stage: Stage;
  /** The control plane's clock. */
  clock: ControlClock;
  /** Tells the control plane that the node leaves. Takes at most `limitMs`. */
  leave(limitMs: number): Promise<void>;
}

await main().catch((error: unknown) => fatal(error));

async function main(): Promise<void> {
  const settings = readNodeSettings(environment());
  const log = createLog({ instance: settings.name, lowest: settings.logLevel });
  const node = await buildNode(settings, log);
  stopOnSignals(node);
  await node.feed.startFromFile();
  node.leave = joinNodeRegistry(node);
  await node.server.listen({ host: settings.host, port: settings.port });
  await waitForConfig(node);
  const address = node.server.server.address();
  const port = typeof address === 'object' && address ? address.port : settings.port;
  node.log.info({ port, revision: node.feed.revision }, 'node is listening');
  process.send?.({ type: 'ready', port, revision: node.feed.revision });
}

function createCompiler({ dataDir }: NodeSettings, log: Log): Compiler {
  return new Compiler(loadNodeKeys(dataDir).privateKey, {
    onUnreadable: (credentialId) =>
      log.error({ credentialId }, 'a credential cannot be decrypted and is not used; add it again'),
    onSkipped: (problem) => log.error({ problem }, 'an upstream is not used; upgrade this node'),
  });
}

async function buildNode(settings: NodeSettings, log: Log): Promise<Node> {
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  const control = connectControl({ urls: settings.controlUrls, token: settings.token });
  const ledger = await openLedger({ folder: join(settings.dataDir, 'journal'), control, log });
  const store = createStore();
  const clock = new ControlClock();
  const compiler = createCompiler(settings, log);
  const feed = createFeed({
    ...{ control, store, log, clock, compiler },
    file: new ConfigFile(join(settings.dataDir, 'config.log')),
    onRecall: (leaseId) => ledger.recall(leaseId),
  });
  const mark = new AloneMark(settings.dataDir);
  const permits = new NodePermits({ control, mark, log, store, ownId: () => whole.id, ...REAL });
  const idempotency = new RemoteIdempotencyStore({ control, self: () => selfOf(whole), pause, ...REAL });
  const node: Omit<Node, 'server'> = {
    settings,
    log,
    control,
    store,
    ledger,
    permits,
    idempotency,
    feed,
    compiler,
    upstreamStates: new UpstreamStates(REAL),
    rotatedKeys: new RotatedKeys(REAL.now),
    traffic: { inflight: 0, served: 0 },
    id: undefined,
    stage: 'serving',
    clock,
    leave: async () => undefined,
  };
  const whole: Node = Object.assign(node, { server: serverOf(node) });
  countTraffic(whole);
  return whole;
}

/** The HTTP server of the node. */
function serverOf(node: Omit<Node, 'server'>): Node['server'] {
  const { store, ledger, idempotency, permits, log, clock, upstreamStates, rotatedKeys } = node;
  return buildServer({
    store,
    ledger,
    idempotency,
    permits,
    dialects: DIALECTS,
    upstreamDialects: UPSTREAM_DIALECTS,
    completions: COMPLETIONS,
    settings: readServerSettings(environment()),
    identityTokenFiles: readIdentityTokenFiles(environment()),
    log,
    stage: () => node.stage,
    configClock: () => clock.now(),
    vitals: () => vitalsOf(node),
    upstreamStates,
    rotatedKeys,
    version: RELEASE,
  });
}

function selfOf({ id, ledger }: Node): ReturnType<IdempotencyStoreParts['self']> {
  return id === undefined ? undefined : { nodeId: id, instanceId: ledger.instanceId };
}

/** Counts the requests and upgrades in progress and those served. */
function countTraffic({ server, traffic }: Node): void {
  const count = (work: { on(event: 'close', listener: () => void): unknown }): void => {
    traffic.inflight += 1;
    work.on('close', () => {
      traffic.inflight -= 1;
      traffic.served += 1;
    });
  };
  server.server.on('request', (_request, response) => count(response));
  server.server.on('upgrade', (_request, socket) => count(socket));
}

function vitalsOf({ ledger, feed, compiler, store, stage }: Omit<Node, 'server'>): Vitals {
  const { writable: journalWritable, usageBacklog, usageDropped, totals } = ledger;
  const { confirmedAt } = store.current ?? {};
  const { revision } = feed;
  const { unreadable: unreadableCredentials, skipped: skippedRecords } = compiler;
  const config = { revision, confirmedAt, unreadableCredentials, skippedRecords };
  return { leaving: stage !== 'serving', ...config, journalWritable, usageBacklog, usageDropped, ...totals };
}

/** Registers the node, and starts to receive configuration and credit. Returns the function to leave. */
function joinNodeRegistry(node: Node): Node['leave'] {
  const { settings, control, ledger, feed, log, traffic, upstreamStates, rotatedKeys } = node;
  return startMembership({
    control,
    log,
    self: {
      name: settings.name,
      version: RELEASE,
      publicKey: loadNodeKeys(settings.dataDir).publicKey,
      journalId: ledger.journalId,
      start: ledger.start,
      instanceId: ledger.instanceId,
      maxConfigAgeSeconds: maxConfigAgeSeconds(),
    },
    status: () => ({
      ...traffic,
      ...upstreamStates.report(),
      oldSecrets: rotatedKeys.report(),
      appliedRevision: feed.revision,
      usageBacklog: ledger.usageBacklog,
      formerSettled: ledger.formerSettled,
    }),
    now: () => ledger.now(),
    onRegistered: (nodeId) => {
      try {
        bindFolder(settings.dataDir, nodeId);
      } catch (error) {
        fatal(error);
      }
      ledger.connect(nodeId);
      node.id = nodeId;
      feed.follow({ nodeId, instanceId: ledger.instanceId });
    },
    onHeartbeatAnswered: (sentAt) => ledger.confirmLeases(sentAt),
    onDrain: () => void stop(node, settings.drainMs),
  });
}

/** The variables of this process, with secrets read from their files. */
function environment(): Record<string, string | undefined> {
  return withSecretFiles(process.env, (path) => readFileSync(path, 'utf8'));
}

/** MAX_CONFIG_AGE in whole seconds, as large as a GraphQL Int can be. */
function maxConfigAgeSeconds(): number {
  return Math.min(Math.ceil(readServerSettings(environment()).maxConfigAgeMs / 1000), 2 ** 31 - 1);
}

/** Waits until the node is registered and has a configuration, at most `FIRST_CONFIG_MS`. */
async function waitForConfig(node: Node): Promise<void> {
  const until = performance.now() + FIRST_CONFIG_MS;
  while (!(node.store.current && node.id !== undefined) && performance.now() < until) await pause(10);
}

function stopOnSignals(node: Node): void {
  process.on('SIGTERM', () => void stop(node, node.settings.drainMs));
  process.on('SIGINT', () => void stop(node, node.settings.drainMs));
  // The parent process has exited and can no longer stop this one.
  process.on('disconnect', () => void stop(node, 0));
}

/**
 * Sends new traffic elsewhere, waits at most `drainMs` for the open requests, cuts the others at no cost,
 * returns the leases, and exits.
 */
async function stop(node: Node, drainMs: number): Promise<void> {
  if (node.stage !== 'serving') return;
  node.log.info({ inflight: node.traffic.inflight, drainMs }, 'node is stopping');
  const until = performance.now() + drainMs;
  const enter = (stage: Stage): void => void (node.stage = stage);
  await depart(node.server.server, { drainMs, enter });
  void node.permits.leave();
  while (node.traffic.inflight > 0 && performance.now() < until) await pause(20);
  await Promise.race([node.server.close(), pause(CUTTING_MS)]);
  const isPatient = drainMs > 1_000;
  const leavingMs = isPatient ? LEAVING_MS.patient : LEAVING_MS.hasty;
  await node.permits.stop(leavingMs);
  await node.idempotency.drain(leavingMs);
  await node.ledger.drain(isPatient ? CLOSING_MS.patient : CLOSING_MS.hasty);
  await node.leave(leavingMs);
  await node.ledger.close();
  await node.feed.stop();
  await node.control.stop();
  process.exit(0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function fatal(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The node stops: ${reason}\n`);
  process.exit(1);
}
