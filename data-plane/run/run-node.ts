/**
 * Runs one process of a node: saved configuration → control plane → listening. Stops it: drain → exit.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { RELEASE } from '@gateway/shared/release';
import { bindFolder, loadNodeKeys } from '../config/identity.ts';
import type { Log } from '../log.ts';
import { readServerSettings } from '../settings.ts';
import type { Worker } from '../workers/worker.ts';
import { buildNode } from './build-node.ts';
import type { Node } from './build-node.ts';
import { depart } from '../node/departure.ts';
import { environment } from './environment.ts';
import { fatal } from './fatal.ts';
import type { ParentProcess } from './parent.ts';
import { startMembership } from '../node/membership.ts';
import type { NodeSettings } from '../node/node-settings.ts';

/**
 * Time that the start waits for the control plane and a configuration before it reports ready anyway, in
 * ms.
 */
const FIRST_CONFIG_MS = 3_000;
/**
 * Time that the leases have to close at shutdown, in ms: little if the node does not drain, as under `npm
 * start`. The control plane may gather other reports for 500 ms before it answers the last one.
 */
const CLOSING_MS = { patient: 5_000, hasty: 1_500 };

/** Time that the control plane has at shutdown to acknowledge each of the node's last messages, in ms. */
const LEAVING_MS = { patient: 2_000, hasty: 300 };

/** Time that the remaining requests have at shutdown to send the error that cuts them, in ms. */
const CUTTING_MS = 300;

interface RunOptions {
  settings: NodeSettings;
  log: Log;
  parent: ParentProcess;
  /** This worker and the port of all workers; absent if the node is one process. */
  task?: { worker: Worker; port: number };
}

/** Starts a node, or one worker of it. Resolves when it listens. Throws if its journal cannot be used. */
export async function runNode({ settings, log, parent, task }: RunOptions): Promise<void> {
  const onStop = (stopped: Node, drainMs: number): void => void stop(stopped, drainMs);
  const node = await buildNode({ settings, log, worker: task?.worker, onStop });
  stopOnSignals(node);
  parent.whenGone(() => void stop(node, 0));
  await node.feed.startFromFile();
  node.leave = joinNodeRegistry(node);
  // A worker that is not ready would fail its part of the connections, which other workers can serve.
  if (task) await waitForConfig(node);
  await node.server.listen({
    host: settings.host,
    port: task?.port ?? settings.port,
    ...(task && task.worker.of > 1 && { reusePort: true }),
  });
  await waitForConfig(node);
  const address = node.server.server.address();
  const port = typeof address === 'object' && address ? address.port : settings.port;
  const { revision } = node.feed;
  if (node.supervisor) node.supervisor.ready(port, revision);
  else announceReady(log, port, revision);
}

/** Tells the log and the parent process that the whole node listens. */
export function announceReady(log: Log, port: number, revision: number): void {
  log.info({ port, revision }, 'node is listening');
  process.send?.({ type: 'ready', port, revision });
}

/** Registers the node, and starts to receive configuration and credit. Returns the function to leave. */
function joinNodeRegistry(node: Node): Node['leave'] {
  const { settings, folder, control, ledger, feed, log, traffic, upstreamStates, rotatedKeys } = node;
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
        bindFolder(folder, nodeId);
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
}

/**
 * Sends new traffic elsewhere, waits at most `drainMs` for the open requests, cuts the others at no cost,
 * returns the leases, and exits.
 */
async function stop(node: Node, drainMs: number): Promise<void> {
  if (node.stage !== 'serving') return;
  node.supervisor?.stopping();
  node.log.info({ inflight: node.traffic.inflight, drainMs }, 'node is stopping');
  await depart(node.server.server, {
    drainMs,
    traffic: node.traffic,
    enter: (stage) => {
      node.stage = stage;
      if (stage === 'draining') void node.permits.leave();
    },
  });
  await Promise.race([node.server.close(), pause(CUTTING_MS)]);
  const isPatient = drainMs > 1_000;
  const leavingMs = isPatient ? LEAVING_MS.patient : LEAVING_MS.hasty;
  await node.permits.stop(leavingMs);
  await node.idempotency.drain(leavingMs);
  await node.ledger.drain(isPatient ? CLOSING_MS.patient : CLOSING_MS.hasty);
  await node.leave(leavingMs);
  await Promise.race([node.tracing?.close(), pause(leavingMs)]);
  await node.ledger.close();
  await node.feed.stop();
  await node.control.stop();
  process.exit(0);
}
