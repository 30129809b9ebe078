/** Permits of a node: connects the permit rules with waiting requests, the control plane and the disk. */
import { GatewayError } from '@gateway/shared/failures';
import { WINDOW_MS } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import type { PoolRecord } from '@gateway/shared/records';
import type { ConfigStore } from '../config/config.ts';
import type { Control } from '../control/client.ts';
import type { Log } from '../log.ts';
import { permitsLeft } from './requesting.ts';
import type { AloneMark } from './alone-mark.ts';
import { newPermitState } from './state.ts';
import type { PermitEffect, PermitEvent, PermitState } from './state.ts';
import { applyEvent, recentAloneUses } from './step.ts';

/** How long a request waits for a permit, in ms. */
const PERMIT_WAIT_MS = 1_000;
const TICK_MS = 100;
/** Back-off before a node announces again that it leaves, in ms. */
const LEAVE_RETRY_MS = 300;

/** Permission to admit one request of a pool. */
export interface Permit {
  /** Returns the permit of a request that asked no upstream. */
  giveBack(): void;
}

/** Rate limit of a pool, for the headers of an answer. */
export interface RateLimitStatus {
  /** Permits that this node has, and its part of the free ones as of the last answer. */
  remaining: number;
  /** Time until more permits are free, in ms. */
  resetMs: number;
}

/** Permits as the request path uses them. */
export interface Permits {
  /**
   * Waits for a permit, at most a second. Throws `rate_limited` if the cap of the pool is reached, and
   * `unavailable` if the control plane is away and this node may not admit the request alone.
   */
  admit(pool: PoolRecord): Promise<Permit>;
  /** The rate limit of a pool; undefined if the last answer is older than a minute. */
  rateLimitStatus(pool: PoolRecord): RateLimitStatus | undefined;
}

interface NodePermitsOptions {
  control: Pick<Control, 'requestPermits' | 'promisePermits'>;
  mark: Pick<AloneMark, 'saysNotAlone' | 'write'>;
  log: Log;
  /** Monotonic clock in ms. */
  now(): number;
  /** Random number from 0 to below 1. */
  random(): number;
  /** Id of this node; undefined until it is registered. */
  ownId(): string | undefined;
  store: Pick<ConfigStore, 'current'>;
}

interface Waiter {
  resolve(permit: Permit): void;
  reject(error: GatewayError): void;
  timer: NodeJS.Timeout;
}

/** Permits of a running node. Call `leave` when the node has no listener any more, and `stop` at its end. */
export class NodePermits implements Permits {
  readonly #options: NodePermitsOptions;
  readonly #state: PermitState;
  readonly #waiters = new Map<number, Waiter>();
  readonly #timer: NodeJS.Timeout;
  #lastWaiter = 0;
  #inUse = false;
  /** The promise under way. It must not arrive after the announcement that the node leaves. */
  #promise: Promise<void> = Promise.resolve();
  #leaving: Promise<void> | undefined;
  #stopped = false;

  constructor(options: NodePermitsOptions) {
    this.#options = options;
    this.#state = newPermitState(options.now(), options.mark.saysNotAlone);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  admit({ id: poolId, rpmCap: cap }: PoolRecord): Promise<Permit> {
    this.#lastWaiter += 1;
    const waiter = this.#lastWaiter;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.#dispatch({ type: 'WAIT_TIMED_OUT', poolId, waiter }),
        PERMIT_WAIT_MS,
      );
      this.#waiters.set(waiter, { resolve, reject, timer });
      this.#dispatch({ type: 'ARRIVE', poolId, cap, waiter });
    });
  }

  rateLimitStatus({ id }: PoolRecord): RateLimitStatus | undefined {
    const now = this.#options.now();
    const meter = this.#state.meters.get(id);
    if (!meter?.lastAnswer || now - meter.lastAnswer.at > WINDOW_MS) return undefined;
    const { remaining, resetAt } = meter.lastAnswer;
    const part = Math.floor(remaining / Math.max(1, this.#state.place.nodes));
    return { remaining: permitsLeft(meter, now) + part, resetMs: Math.max(0, resetAt - now) };
  }

  /**
   * Admits nothing alone from now on, and announces that to the control plane until it accepts, so that other
   * nodes get this node's share. Resolves then, or after `stop`; never rejects.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#announceLeaving();
    return this.#leaving;
  }

  /** Leaves and stops all timers. Takes at most `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    await Promise.race([this.leave(), pause(limitMs)]);
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  async #announceLeaving(): Promise<void> {
    const { control, now, ownId } = this.#options;
    const state = this.#state;
    state.leaving = true;
    await this.#promise;
    const nodeId = ownId();
    if (nodeId === undefined || !this.#inUse) return;
    const { nodes, index: place } = state.place;
    let clock = state.clock;
    while (!this.#stopped) {
      const alone = clock === null ? [] : recentAloneUses(state, now());
      try {
        const promise = { nodeId, heard: clock, nodes, place, alone, leaving: clock !== null };
        const answer = await control.promisePermits(promise);
        if (answer.accepted) return;
        clock = answer.clock;
      } catch {
        await pause(LEAVE_RETRY_MS);
      }
    }
  }

  #tick(): void {
    this.#inUse ||= this.#options.store.current?.hasPools === true;
    if (this.#inUse && this.#options.ownId() !== undefined)
      this.#dispatch({ type: 'TICK', place: this.#place() });
  }

  #place(): Place {
    const ids = this.#options.store.current?.settings.nodeIds ?? [];
    return { nodes: ids.length, index: ids.indexOf(this.#options.ownId() ?? '') };
  }

  #dispatch(event: PermitEvent): void {
    let isMarkDurable = true;
    for (const effect of applyEvent(this.#state, event, this.#options.now())) {
      if (effect.type === 'MARK') isMarkDurable = this.#mark(effect.alone);
      else if (effect.type === 'ADMIT' && effect.grantId === null && !isMarkDurable)
        this.#refuseUnmarked(effect.waiter);
      else this.#perform(effect);
    }
  }

  #perform(effect: Exclude<PermitEffect, { type: 'MARK' }>): void {
    if (effect.type === 'REQUEST') void this.#requestPermits(effect);
    else if (effect.type === 'PROMISE') this.#promise = this.#sendPromise(effect);
    else if (effect.type === 'ADMIT') this.#admit(effect);
    else this.#refuse(effect);
  }

  /** Writes the mark. Returns whether it is durable. */
  #mark(alone: boolean): boolean {
    try {
      this.#options.mark.write(alone);
      if (alone)
        this.#options.log.warn(
          {},
          'the control plane is away: pools are served within the share of this node',
        );
      return true;
    } catch (error) {
      this.#options.log.warn(
        { reason: reasonOf(error) },
        'the mark of a node that is alone could not be written: check the disk of DATA_DIR',
      );
      if (alone) applyEvent(this.#state, { type: 'MARK_FAILED' }, this.#options.now());
      return false;
    }
  }

  async #requestPermits({
    poolId,
    want,
    finished,
  }: Extract<PermitEffect, { type: 'REQUEST' }>): Promise<void> {
    const { control, now, ownId } = this.#options;
    const sentAt = now();
    try {
      const answer = await control.requestPermits({ nodeId: ownId() ?? '', poolId, want, finished });
      this.#dispatch({ type: 'ANSWERED', poolId, sentAt, answer });
    } catch {
      // Failed heartbeats log that the control plane is away.
      this.#dispatch({ type: 'UNANSWERED', poolId });
    }
  }

  async #sendPromise({
    clock: heard,
    place,
    aloneUses,
  }: Extract<PermitEffect, { type: 'PROMISE' }>): Promise<void> {
    const { control, now, ownId } = this.#options;
    const sentAt = now();
    try {
      const { clock, accepted, hasRoom } = await control.promisePermits({
        nodeId: ownId() ?? '',
        heard,
        nodes: place.nodes,
        place: place.index,
        alone: aloneUses,
        leaving: false,
      });
      this.#dispatch({ type: 'PROMISE_ANSWERED', sentAt, place, clock, accepted, hasRoom });
    } catch {
      this.#dispatch({ type: 'PROMISE_UNANSWERED' });
    }
  }

  #admit({ waiter, poolId, grantId }: Extract<PermitEffect, { type: 'ADMIT' }>): void {
    const giveBack = (): void => {
      if (grantId !== null) this.#dispatch({ type: 'PERMIT_RETURNED', poolId, grantId });
    };
    this.#takeWaiter(waiter)?.resolve({ giveBack });
  }

  #refuse({ waiter, code, waitMs, spreadMs }: Extract<PermitEffect, { type: 'REFUSE' }>): void {
    const retryAfterMs = Math.round(waitMs + this.#options.random() * spreadMs);
    this.#takeWaiter(waiter)?.reject(new GatewayError(code, MESSAGES[code], { retryAfterMs }));
  }

  #refuseUnmarked(waiter: number): void {
    const error = new GatewayError('unavailable', MESSAGES.unavailable, { retryAfterMs: PERMIT_WAIT_MS });
    this.#takeWaiter(waiter)?.reject(error);
  }

  #takeWaiter(id: number): Waiter | undefined {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    clearTimeout(waiter?.timer);
    return waiter;
  }
}

const MESSAGES = {
  rate_limited:
    'The requests per minute of this pool are used up. Wait as long as retry-after says, then try again.',
  unavailable: 'The gateway cannot count the requests of this pool at the moment. Try again shortly.',
};

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
