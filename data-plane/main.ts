/** A node's life: settings → journal → kept configuration → control plane → listening → draining → gone. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compiler } from './config/compile.ts';
import { createFeed } from './config/feed.ts';
import type { Feed } from './config/feed.ts';
import { ConfigFile } from './config/file.ts';
import { claimFolder, loadNodeKeys } from './config/identity.ts';
import { createStore } from './config/store.ts';
import type { WritableStore } from './config/store.ts';
import { NodeClaims } from './claim.ts';
import type { ClaimParts } from './claim.ts';
import { connectControl } from './control.ts';
import type { Control } from './control.ts';
import { COMPLETIONS, DIALECTS } from './dialects/index.ts';
import { openLedger } from './ledger/open-ledger.ts';
import type { OpenLedger } from './ledger/open-ledger.ts';
import { createLog } from './log.ts';
import type { Log } from './log.ts';
import { joinNodes } from './membership.ts';
import type { Vitals } from './metrics.ts';
import { AloneMark } from './permits/marker.ts';
import { OldSecrets } from './old-secrets.ts';
import { NodePermits } from './permits/permits.ts';
import { readNodeSettings } from './node-settings.ts';
import type { NodeSettings } from './node-settings.ts';
import { buildServer } from './server.ts';
import { readServerSettings } from './settings.ts';
import { UpstreamStates } from './upstreams/states.ts';

/**
 * How long a start waits for the control plane and a configuration before it says that it is ready without,
 * in ms.
 */
const FIRST_CONFIG_MS = 3_000;
/**
 * How long the leases may take to close at the end, in ms; with nothing to drain, somebody waits for the
 * exit.
 */
const CLOSING_MS = { patient: 5_000, hasty: 300 };

/** How long the control plane may take at the end to hear each of the last words of this node, in ms. */
const LEAVING_MS = { patient: 2_000, hasty: 300 };

/** How long the answers that are still open then may take to say that they were cut, in ms. */
const CUTTING_MS = 300;

/** Clock and chance as they are outside of tests. */
const REAL = { now: () => performance.now(), random: Math.random };

interface Node {
  settings: NodeSettings;
  log: Log;
  control: Control;
  store: WritableStore;
  ledger: OpenLedger;
  permits: NodePermits;
  claims: NodeClaims;
  feed: Feed;
  upstreamStates: UpstreamStates;
  oldSecrets: OldSecrets;
  server: ReturnType<typeof buildServer>;
  traffic: { inflight: number; served: number };
  /** The node's id, once the control plane knows this process: before that, no credit. */
  id: string | undefined;
  draining: boolean;
  /** Says goodbye, which takes so long at most. */
  leave(limitMs: number): Promise<void>;
}

await main().catch((error: unknown) => fatal(error));

async function main(): Promise<void> {
  const settings = readNodeSettings(process.env);
  const node = await buildNode(settings, createLog(settings.logLevel));
  stopWhenTold(node);
  await node.feed.startFromFile();
  node.leave = enterService(node);
  await node.server.listen({ host: settings.host, port: settings.port });
  await firstConfig(node);
  const address = node.server.server.address();
  const port = typeof address === 'object' && address ? address.port : settings.port;
  node.log.info({ port, revision: node.feed.revision }, 'the node listens');
  process.send?.({ type: 'ready', port, revision: node.feed.revision });
}

async function buildNode(settings: NodeSettings, log: Log): Promise<Node> {
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  const control = connectControl({ urls: settings.controlUrls, token: settings.token });
  const ledger = await openLedger({ folder: join(settings.dataDir, 'journal'), control, log });
  const store = createStore();
  const feed = createFeed({
    control,
    store,
    log,
    compiler: new Compiler(loadNodeKeys(settings.dataDir).privateKey),
    file: new ConfigFile(join(settings.dataDir, 'config.log')),
    onRecall: (leaseId) => ledger.recall(leaseId),
  });
  const mark = new AloneMark(settings.dataDir);
  const permits = new NodePermits({ control, mark, log, store, ownId: () => whole.id, ...REAL });
  const claims = new NodeClaims({ control, self: () => selfOf(whole) });
  const node: Omit<Node, 'server'> = {
    settings,
    log,
    control,
    store,
    ledger,
    permits,
    claims,
    feed,
    upstreamStates: new UpstreamStates(REAL),
    oldSecrets: new OldSecrets(REAL.now),
    traffic: { inflight: 0, served: 0 },
    id: undefined,
    draining: false,
    leave: async () => undefined,
  };
  const server = buildServer({
    store,
    ledger,
    claims,
    permits,
    dialects: DIALECTS,
    completions: COMPLETIONS,
    settings: readServerSettings(process.env),
    logLevel: settings.logLevel,
    draining: () => whole.draining,
    vitals: () => vitalsOf(whole),
    upstreamStates: node.upstreamStates,
    oldSecrets: node.oldSecrets,
  });
  const whole: Node = Object.assign(node, { server });
  countTraffic(whole);
  return whole;
}

function selfOf({ id, ledger }: Node): ReturnType<ClaimParts['self']> {
  return id === undefined ? undefined : { nodeId: id, instanceId: ledger.instanceId };
}

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

function vitalsOf({ ledger, feed, store }: Node): Vitals {
  const { writable: journalWritable, usageBacklog, usageDropped, tally } = ledger;
  const { confirmedAt } = store.current ?? {};
  return { revision: feed.revision, confirmedAt, journalWritable, usageBacklog, usageDropped, ...tally };
}

/** Joins the other nodes; from then on configuration and money flow. Returns how to leave. */
function enterService(node: Node): Node['leave'] {
  const { settings, control, ledger, feed, log, traffic, upstreamStates, oldSecrets } = node;
  return joinNodes({
    control,
    log,
    self: {
      name: settings.name,
      version: ownVersion(),
      publicKey: loadNodeKeys(settings.dataDir).publicKey,
      journalId: ledger.journalId,
      start: ledger.start,
      instanceId: ledger.instanceId,
    },
    vitals: () => ({
      ...traffic,
      ...upstreamStates.report(),
      oldSecrets: oldSecrets.report(),
      appliedRevision: feed.revision,
      usageBacklog: ledger.usageBacklog,
      formerSettled: ledger.formerSettled,
    }),
    now: () => ledger.now(),
    onRegistered: (nodeId) => {
      try {
        claimFolder(settings.dataDir, nodeId);
      } catch (error) {
        fatal(error);
      }
      ledger.connect(nodeId);
      node.id = nodeId;
      feed.follow({ nodeId, instanceId: ledger.instanceId });
    },
    onConfirmed: (sentAt) => ledger.confirm(sentAt),
    onDrain: () => void stop(node, settings.drainMs),
  });
}

async function firstConfig(node: Node): Promise<void> {
  const until = performance.now() + FIRST_CONFIG_MS;
  while (!(node.store.current && node.id !== undefined) && performance.now() < until) await pause(10);
}

function stopWhenTold(node: Node): void {
  process.on('SIGTERM', () => void stop(node, node.settings.drainMs));
  process.on('SIGINT', () => void stop(node, node.settings.drainMs));
  // Whoever started this process is gone: nobody would stop it any more.
  process.on('disconnect', () => void stop(node, 0));
}

/** Lets open answers end, gives the leases back, and exits. What is still open then is cut, and free. */
async function stop(node: Node, drainMs: number): Promise<void> {
  if (node.draining) return;
  node.draining = true;
  node.log.info({ inflight: node.traffic.inflight, drainMs }, 'stopping');
  const until = performance.now() + drainMs;
  void node.permits.leave();
  while (node.traffic.inflight > 0 && performance.now() < until) await pause(20);
  await Promise.race([node.server.close(), pause(CUTTING_MS)]);
  const isPatient = drainMs > 1_000;
  const leavingMs = isPatient ? LEAVING_MS.patient : LEAVING_MS.hasty;
  await node.permits.stop(leavingMs);
  await node.claims.drain(leavingMs);
  await node.ledger.drain(isPatient ? CLOSING_MS.patient : CLOSING_MS.hasty);
  await node.leave(leavingMs);
  await node.ledger.close();
  await node.feed.stop();
  await node.control.stop();
  process.exit(0);
}

function ownVersion(): string {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function fatal(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The node cannot go on: ${reason}\n`);
  process.exit(1);
}
