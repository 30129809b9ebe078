/**
 * The node's place among the nodes: registers it, then says every few seconds that it lives, and how it does.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeHeartbeatInput, NodeRegisterInput } from '@gateway/shared/node-api';
import type { Control } from './control.ts';
import { ControlError } from './control-error.ts';
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
  formerSettled: boolean;
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
  /**
   * Called when an administrator wants the node to end, or another process has taken its place, for each
   * heartbeat that is told so.
   */
  onDrain(): void;
}

/**
 * Registers, as long as it takes, then sends heartbeats. Returns how to leave: the last heartbeat says so, as
 * long as it may take.
 */
export function joinNodes(options: MembershipOptions): (limitMs: number) => Promise<void> {
  const stopped = new AbortController();
  let beats: Heartbeats | undefined;
  void register(options, stopped.signal).then((nodeId) => {
    if (nodeId === undefined || stopped.signal.aborted) return;
    options.onRegistered(nodeId);
    beats = new Heartbeats(options, nodeId);
    beats.start();
  });
  return async (limitMs) => {
    stopped.abort();
    await Promise.race([beats?.leave(), sleep(limitMs, undefined, { ref: false })]);
  };
}

async function register(
  { control, self, log }: MembershipOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  let said = '';
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      const { id, name } = await control.register(self);
      log.info({ nodeId: id, name }, 'registered at the control plane');
      return id;
    } catch (error) {
      const reason = messageOf(error);
      // Said when it changes, and each minute or so: a control plane that is away must not fill the disk.
      if (attempt % 100 === 0 || reason !== said)
        log.warn({ reason }, 'cannot register at the control plane yet');
      said = reason;
      await pause(Math.random() * Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(attempt, 10)), signal);
    }
  }
  return undefined;
}

/** What a process says of itself every few seconds. */
class Heartbeats {
  readonly #options: MembershipOptions;
  readonly #nodeId: string;
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });
  #servedBefore: number;
  #sentBefore: number;
  #failing = false;
  #leaving = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MembershipOptions, nodeId: string) {
    this.#options = options;
    this.#nodeId = nodeId;
    this.#servedBefore = options.vitals().served;
    this.#sentBefore = options.now().mono;
  }

  start(): void {
    this.#delay.enable();
    void this.#beat();
  }

  /** Says that no other one follows: whoever comes next need not wait for silence. */
  async leave(): Promise<void> {
    this.#leaving = true;
    clearTimeout(this.#timer);
    await this.#send(this.#options.now());
    this.#delay.disable();
  }

  async #beat(): Promise<void> {
    await this.#send(this.#options.now());
    if (this.#leaving) return;
    this.#timer = setTimeout(
      () => void this.#beat(),
      this.#failing ? HEARTBEAT_AGAIN_MS : HEARTBEAT_EVERY_MS,
    );
  }

  async #send(sentAt: Moment): Promise<void> {
    const { control, log, onConfirmed, onDrain } = this.#options;
    try {
      const { draining } = await control.heartbeat(this.#input(sentAt));
      this.#failing = false;
      if (this.#leaving) return;
      onConfirmed(sentAt);
      if (draining) onDrain();
    } catch (error) {
      if (!this.#failing) log.warn({ reason: messageOf(error) }, 'a heartbeat was not answered');
      this.#failing = true;
      if (this.#leaving) return;
      const code = codeOf(error) === 'NOT_FOUND' ? await this.#registerAgain() : codeOf(error);
      // Another process is the node now.
      if (code === 'CONFLICT') onDrain();
    }
  }

  /**
   * Tells a control plane of this process that does not know it any more, since its database was put back.
   * Returns the code of a refusal.
   */
  async #registerAgain(): Promise<string | undefined> {
    const { control, self, log } = this.#options;
    try {
      await control.register(self);
      log.warn({}, 'registered anew: the control plane did not know this process');
      return undefined;
    } catch (refused) {
      return codeOf(refused);
    }
  }

  #input(sentAt: Moment): NodeHeartbeatInput {
    const { served, ...rest } = this.#options.vitals();
    const { journalId, instanceId } = this.#options.self;
    const seconds = Math.max(1, sentAt.mono - this.#sentBefore) / 1_000;
    const input = {
      ...{ nodeId: this.#nodeId, journalId, instanceId, leaving: this.#leaving, ...rest },
      rps: ((served - this.#servedBefore) / seconds).toFixed(1),
      eventLoopP99Ms: Math.round(this.#delay.percentile(99) / 1e6),
    };
    [this.#servedBefore, this.#sentBefore] = [served, sentAt.mono];
    this.#delay.reset();
    return input;
  }
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

function codeOf(error: unknown): string | undefined {
  return error instanceof ControlError ? error.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
