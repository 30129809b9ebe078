/**
 * Settles the journal of a worker that the node no longer has, because it has fewer workers than before.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RELEASE } from '@gateway/shared/release';
import { workerToken } from '@gateway/shared/worker-token';
import { bindFolder, loadNodeKeys } from '../config/identity.ts';
import { connectControl } from '../control/client.ts';
import { openLedger } from '../ledger/open-ledger.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import type { Log } from '../log.ts';
import { isSupervisorMessage } from './messages.ts';
import { settledMark, workerFolder } from '../workers/worker.ts';
import { fatal } from './fatal.ts';
import { startMembership } from '../node/membership.ts';
import type { MembershipOptions } from '../node/membership.ts';
import type { NodeSettings } from '../node/node-settings.ts';
import type { ParentProcess } from './parent.ts';

/** Time between checks whether the process is asked to stop, in ms. */
const ROUND_MS = 1_000;
/** Time that the control plane has to acknowledge the last message, in ms. */
const LEAVING_MS = 2_000;
/** Time in which an earlier process of the worker must have ended, in ms. */
const LOCK_WITHIN_MS = 15_000;

/**
 * Reports all charges of the journal and returns all leases, then marks the folder as settled and ends the
 * process. Waits for the control plane as long as necessary. Throws if the journal cannot be used.
 */
export async function settleFormerWorker(options: {
  settings: NodeSettings;
  log: Log;
  parent: ParentProcess;
  number: number;
}): Promise<void> {
  const { settings, log, number } = options;
  const folder = workerFolder(settings.dataDir, number);
  const control = connectControl({ urls: settings.controlUrls, token: workerToken(settings.token, number) });
  const journal = join(folder, 'journal');
  const ledger = await openLedger({ folder: journal, lockWithinMs: LOCK_WITHIN_MS, control, log });
  const stopped = stopRequest(options.parent);
  const leave = startMembership({ control, log, ...membershipOf(options, folder, ledger) });
  let isSettled = false;
  while (!isSettled && !stopped.aborted) isSettled = await ledger.drain(ROUND_MS);
  await leave(LEAVING_MS);
  // While the folder is locked: the next worker on it removes the mark.
  if (isSettled) writeFileSync(settledMark(folder), '');
  await ledger.close();
  if (isSettled) log.info({}, 'the journal of a former worker is settled');
  await control.stop();
  process.exit(0);
}

/** Aborted when the supervisor or a signal asks this process to stop, or the supervisor has ended. */
function stopRequest(parent: ParentProcess): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  parent.whenGone(() => stop.abort());
  process.on('message', (message) => {
    if (isSupervisorMessage(message) && message.type === 'stop') stop.abort();
  });
  return stop.signal;
}

function membershipOf(
  { settings, number }: { settings: NodeSettings; number: number },
  folder: string,
  ledger: OpenLedger,
): Omit<MembershipOptions, 'control' | 'log'> {
  return {
    self: {
      name: `${settings.name}#${number}`,
      version: RELEASE,
      publicKey: loadNodeKeys(settings.dataDir).publicKey,
      journalId: ledger.journalId,
      start: ledger.start,
      instanceId: ledger.instanceId,
      maxConfigAgeSeconds: 1,
      serves: false,
    },
    status: () => ({
      ...{ inflight: 0, served: 0, appliedRevision: 0, upstreams: [], credentials: [] },
      ...{ routes: [], oldSecrets: [] },
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
    },
    onHeartbeatAnswered: (sentAt) => ledger.confirmLeases(sentAt),
    // The process serves nothing, and ends when its journal is settled.
    onDrain: () => undefined,
  };
}
