/** Builds the parts of a node and connects them. Nothing listens and nothing is registered yet. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RemoteIdempotencyStore } from '../admission/idempotency.ts';
import type { IdempotencyStoreParts } from '../admission/idempotency.ts';
import { RotatedKeys } from '../admission/rotated-keys.ts';
import { Compiler } from '../config/compile.ts';
import { ControlClock } from '../config/control-clock.ts';
import { createFeed } from '../config/feed.ts';
import type { Feed } from '../config/feed.ts';
import { ConfigFile } from '../config/file.ts';
import { loadNodeKeys } from '../config/identity.ts';
import { createStore } from '../config/store.ts';
import type { WritableStore } from '../config/store.ts';
import { connectControl } from '../control/client.ts';
import type { Control } from '../control/client.ts';
import { COMPLETIONS, DIALECTS, UPSTREAM_DIALECTS } from '../dialects/index.ts';
import type { ServerDependencies } from '../http/build-services.ts';
import { checkReady } from '../http/readiness.ts';
import { buildServer } from '../http/server.ts';
import { openLedger } from '../ledger/open-ledger.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import type { Log } from '../log.ts';
import { Metrics } from '../metrics.ts';
import type { Vitals } from '../metrics.ts';
import { AloneMark } from '../permits/alone-mark.ts';
import { NodePermits } from '../permits/permits.ts';
import { readServerSettings } from '../settings.ts';
import { readIdentityTokenFiles } from '../upstreams/clouds/identity-tokens.ts';
import { openTracing } from '../tracing/open-tracing.ts';
import { UpstreamStates } from '../upstreams/states.ts';
import { RELEASE } from '@gateway/shared/release';
import type { Tracing } from '@gateway/shared/tracing';
import { workerToken } from '@gateway/shared/worker-token';
import { SupervisorLink } from './link.ts';
import { settledMark, workerFolder } from '../workers/worker.ts';
import type { Worker } from '../workers/worker.ts';
import type { Stage } from '../node/departure.ts';
import { environment } from './environment.ts';
import type { NodeSettings } from '../node/node-settings.ts';

/** Clock and random numbers outside of tests. */
const REAL = { now: () => performance.now(), random: Math.random };

/** Time in which an earlier process of the same worker must have ended, in ms. */
const LOCK_WITHIN_MS = 15_000;

/** A process of a node with all its parts. */
export interface Node {
  settings: NodeSettings;
  /** Folder of this worker: journal, stored configuration and marks. */
  folder: string;
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
  /** The supervisor; undefined if the node is one process. */
  supervisor: SupervisorLink | undefined;
  traffic: { inflight: number; served: number };
  /** The id of the node or worker; undefined until the control plane has registered this process. */
  id: string | undefined;
  stage: Stage;
  /** The control plane's clock. */
  clock: ControlClock;
  /** Undefined if no traces are sent. */
  tracing: Tracing | undefined;
  /** Tells the control plane that the node leaves. Takes at most `limitMs`. */
  leave(limitMs: number): Promise<void>;
}

/** A node before it has a server. */
type Parts = Omit<Node, 'server' | 'supervisor'>;

/** How a node is built: its settings, and which worker it is if a supervisor started it. */
export interface BuildOptions {
  settings: NodeSettings;
  log: Log;
  worker?: Worker | undefined;
  /** Called if the supervisor stops this worker. */
  onStop(node: Node, drainMs: number): void;
}

/** Opens the journal and builds everything. Throws if the journal is in use, damaged or newer. */
export async function buildNode(options: BuildOptions): Promise<Node> {
  const { settings, log, worker } = options;
  const number = worker?.number ?? 1;
  const folder = workerFolder(settings.dataDir, number);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const control = connectControl({ urls: settings.controlUrls, token: workerToken(settings.token, number) });
  const journal = join(folder, 'journal');
  const ledger = await openLedger({
    folder: journal,
    lockWithinMs: worker ? LOCK_WITHIN_MS : 0,
    control,
    log,
  });
  // The folder is locked, and from here on the journal may hold unsettled charges again.
  rmSync(settledMark(folder), { force: true });
  const store = createStore();
  const clock = new ControlClock();
  const compiler = createCompiler(settings, log);
  const feed = createFeed({
    ...{ control, store, log, clock, compiler },
    file: new ConfigFile(join(folder, 'config.log')),
    onRecall: (leaseId) => ledger.recall(leaseId),
  });
  const mark = new AloneMark(folder);
  const permits = new NodePermits({ control, mark, log, store, ownId: () => node.id, ...REAL });
  const self = (): ReturnType<IdempotencyStoreParts['self']> => selfOf(node);
  const idempotency = new RemoteIdempotencyStore({ control, self, pause, worker, ...REAL });
  const node: Parts = {
    ...{ settings, folder, log, control, store, ledger, permits, idempotency, feed, compiler, clock },
    upstreamStates: new UpstreamStates(REAL),
    rotatedKeys: new RotatedKeys(REAL.now),
    traffic: { inflight: 0, served: 0 },
    id: undefined,
    stage: 'serving',
    tracing: await openTracing(environment(), settings.name),
    leave: async () => undefined,
  };
  return withServer(node, options);
}

function createCompiler({ dataDir }: NodeSettings, log: Log): Compiler {
  return new Compiler(loadNodeKeys(dataDir).privateKey, {
    onUnreadable: (credentialId) =>
      log.error({ credentialId }, 'a credential cannot be decrypted and is not used; add it again'),
    onSkipped: (problem) => log.error({ problem }, 'an upstream is not used; upgrade this node'),
  });
}

/** Adds the HTTP server, and the link to the supervisor if there is one. */
function withServer(node: Parts, { worker, onStop }: BuildOptions): Node {
  const metrics = new Metrics(() => vitalsOf(node), node.upstreamStates);
  const dependencies: ServerDependencies = { ...dependenciesOf(node), metrics };
  const supervisor = worker
    ? new SupervisorLink({
        isReady: () => isReady(dependencies),
        collect: () => metrics.registry.getMetricsAsJSON(),
        onStop: (drainMs) => onStop(whole, drainMs),
      })
    : undefined;
  if (worker && supervisor)
    dependencies.node = {
      worker,
      othersReady: () => supervisor.othersReady,
      scrape: () => supervisor.scrape(),
    };
  const whole: Node = Object.assign(node, { server: buildServer(dependencies), supervisor });
  countTraffic(whole);
  return whole;
}

function dependenciesOf(node: Parts): ServerDependencies {
  const { store, ledger, idempotency, permits, log, clock, upstreamStates, rotatedKeys, tracing } = node;
  return {
    ...{ store, ledger, idempotency, permits, log, upstreamStates, rotatedKeys, tracing },
    dialects: DIALECTS,
    upstreamDialects: UPSTREAM_DIALECTS,
    completions: COMPLETIONS,
    settings: readServerSettings(environment()),
    identityTokenFiles: readIdentityTokenFiles(environment()),
    stage: () => node.stage,
    configClock: () => clock.now(),
    vitals: () => vitalsOf(node),
    version: RELEASE,
  };
}

function isReady(dependencies: ServerDependencies): boolean {
  try {
    checkReady(dependencies);
    return true;
  } catch {
    return false;
  }
}

function selfOf({ id, ledger }: Parts): ReturnType<IdempotencyStoreParts['self']> {
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

function vitalsOf({ ledger, feed, compiler, store, stage }: Parts): Vitals {
  const { writable: journalWritable, usageBacklog, usageDropped, totals } = ledger;
  const { confirmedAt } = store.current ?? {};
  const { revision } = feed;
  const { unreadable: unreadableCredentials, skipped: skippedRecords } = compiler;
  const config = { revision, confirmedAt, unreadableCredentials, skippedRecords };
  return { leaving: stage !== 'serving', ...config, journalWritable, usageBacklog, usageDropped, ...totals };
}
