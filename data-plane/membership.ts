/**
 * The node's place among the nodes: registers it, then says every few seconds that it lives, and how it does.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { NodeHeartbeatInput, NodeRegisterInput } from '@gateway/shared/node-api';
import type { Control } from './control.ts';
import type { Moment } from './ledger/state.ts';
import type { Log } from './log.ts';

const HEARTBEAT_EVERY_MS = 5_000;
const RETRY_BASE_MS = 100;
/** Paid requests of a restarted node wait for its registration: it keeps asking often. */
const RETRY_MAX_MS = 800;
/** After a heartbeat without an answer the next one follows sooner: leases and usage wait for it, in ms. */
const HEARTBEAT_AGAIN_MS = 700;

export interface Vitals extends Pick<NodeHeartbeatInput, 'upstreams' | 'credentials' | 'oldSecrets'> {
  appliedRevision: number;
  inflight: number;
  served: number;
  usageBacklog: number;
}

export interface MembershipOptions {
  control: Pick<Control, 'register' | 'heartbeat'>;
  self: NodeRegisterInput;
  log: Log;
  vitals(): Vitals;
  now(): Moment;
  /** Called once, when the control plane knows this process. What it throws ends the process. */
  onRegistered(nodeId: string): void;
  /** Called for each answered heartbeat with the moment it was sent: the node's leases were alive then. */
  onConfirmed(sentAt: Moment): void;
  /** Called when an administrator wants the node to end, for each heartbeat that is told so. */
  onDrain(): void;
}

/** Registers, as long as it takes, then sends heartbeats. Returns how to stop. */
export function joinNodes(options: MembershipOptions): () => void {
  const stopped = new AbortController();
  void register(options, stopped.signal).then((nodeId) => {
    if (nodeId === undefined) return;
    options.onRegistered(nodeId);
    sendHeartbeats(options, { nodeId, signal: stopped.signal });
  });
  return () => stopped.abort();
}

async function register(
  { control, self, log }: MembershipOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      const { id, name } = await control.register(self);
      log.info({ nodeId: id, name }, 'registered at the control plane');
      return id;
    } catch (error) {
      // Said once and then each minute or so: a control plane that is away must not fill the disk.
      if (attempt % 100 === 0)
        log.warn({ reason: messageOf(error) }, 'cannot register at the control plane yet');
      await pause(Math.random() * Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(attempt, 10)), signal);
    }
  }
  return undefined;
}

function sendHeartbeats(
  options: MembershipOptions,
  { nodeId, signal }: { nodeId: string; signal: AbortSignal },
): void {
  const { control, self, vitals, now, log } = options;
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let servedBefore = vitals().served;
  let sentBefore = now().mono;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  const beat = async () => {
    const sentAt = now();
    const { served, ...rest } = vitals();
    const seconds = Math.max(1, sentAt.mono - sentBefore) / 1_000;
    const input: NodeHeartbeatInput = {
      nodeId,
      journalId: self.journalId,
      ...rest,
      rps: ((served - servedBefore) / seconds).toFixed(1),
      eventLoopP99Ms: Math.round(delay.percentile(99) / 1e6),
    };
    [servedBefore, sentBefore] = [served, sentAt.mono];
    delay.reset();
    try {
      const { draining } = await control.heartbeat(input);
      options.onConfirmed(sentAt);
      if (draining) options.onDrain();
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ reason: messageOf(error) }, 'a heartbeat was not answered');
      failing = true;
    }
    if (!signal.aborted)
      timer = setTimeout(() => void beat(), failing ? HEARTBEAT_AGAIN_MS : HEARTBEAT_EVERY_MS);
  };
  void beat();
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    delay.disable();
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
