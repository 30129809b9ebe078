/** Registers this process as its node, then sends heartbeats with the node's status every few seconds. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeHeartbeatInput, NodeRegisterInput } from '@gateway/shared/node-api';
import type { Control } from '../control/client.ts';
import { ControlError } from '../control/error.ts';
import type { Moment } from '../ledger/state.ts';
import type { Log } from '../log.ts';

const HEARTBEAT_EVERY_MS = 5_000;
const RETRY_BASE_MS = 100;
/** Short, because paid requests of a restarted node wait for the registration. */
const RETRY_MAX_MS = 800;
/** Interval after a failed heartbeat, in ms: leases and usage reports wait for the next answer. */
const HEARTBEAT_RETRY_MS = 700;

/** State of the node in a heartbeat. */
interface NodeStatus extends Pick<NodeHeartbeatInput, 'upstreams' | 'credentials' | 'routes' | 'oldSecrets'> {
  appliedRevision: number;
  inflight: number;
  /** Requests served since the start. */
  served: number;
  usageBacklog: number;
  formerSettled: boolean;
}

export interface MembershipOptions {
  control: Pick<Control, 'register' | 'heartbeat'>;
  self: NodeRegisterInput;
  log: Log;
  status(): NodeStatus;
  now(): Moment;
  /** Called once, after the registration. An error that it throws ends the process. */
  onRegistered(nodeId: string): void;
  /** Called for each answered heartbeat with its send time: the leases were valid at that moment. */
  onHeartbeatAnswered(sentAt: Moment): void;
  /**
   * Called, possibly repeatedly, if an administrator drains the node or another process has replaced this
   * one.
   */
  onDrain(): void;
}

/**
 * Registers, with retries until it succeeds, then sends heartbeats. Returns a function that sends a last
 * heartbeat with `leaving` and resolves after at most the given time in ms.
 */
export function startMembership(options: MembershipOptions): (limitMs: number) => Promise<void> {
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
  let lastReason = '';
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      const { id, name } = await control.register(self);
      log.info({ nodeId: id, name }, 'registered with the control plane');
      return id;
    } catch (error) {
      const reason = messageOf(error);
      // Log a reason when it changes and about once a minute, so that an outage does not fill the disk.
      if (attempt % 100 === 0 || reason !== lastReason)
        log.warn({ reason }, 'cannot register with the control plane; trying again');
      lastReason = reason;
      await pause(Math.random() * Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(attempt, 10)), signal);
    }
  }
  return undefined;
}

/** Sends the heartbeats of a registered process. */
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
    this.#servedBefore = options.status().served;
    this.#sentBefore = options.now().mono;
  }

  start(): void {
    this.#delay.enable();
    void this.#beat();
  }

  /** Sends a last heartbeat with `leaving`, so that the next process need not wait for a timeout. */
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
      this.#failing ? HEARTBEAT_RETRY_MS : HEARTBEAT_EVERY_MS,
    );
  }

  async #send(sentAt: Moment): Promise<void> {
    const { control, log, onHeartbeatAnswered, onDrain } = this.#options;
    try {
      const { draining } = await control.heartbeat(this.#input(sentAt));
      this.#failing = false;
      if (this.#leaving) return;
      onHeartbeatAnswered(sentAt);
      if (draining) onDrain();
    } catch (error) {
      if (!this.#failing)
        log.warn({ reason: messageOf(error) }, 'a heartbeat was not answered; trying again');
      this.#failing = true;
      if (this.#leaving) return;
      const code = codeOf(error) === 'NOT_FOUND' ? await this.#registerAgain() : codeOf(error);
      // Another process has replaced this one.
      if (code === 'CONFLICT') onDrain();
    }
  }

  /**
   * Registers again, because the control plane does not know this process: its database was restored from a
   * backup. Returns the error code of a refusal.
   */
  async #registerAgain(): Promise<string | undefined> {
    const { control, self, log } = this.#options;
    try {
      await control.register(self);
      log.warn({}, 'registered again: the control plane did not know this process');
      return undefined;
    } catch (refused) {
      return codeOf(refused);
    }
  }

  #input(sentAt: Moment): NodeHeartbeatInput {
    const { served, ...rest } = this.#options.status();
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
