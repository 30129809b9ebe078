/** Permits of this node: who waits for one, what is asked of the control plane, and what it answered. */
import { GatewayError } from '@gateway/shared/failures';
import { WINDOW_MS } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import type { PoolRecord } from '@gateway/shared/records';
import type { ConfigStore } from '../config/config.ts';
import type { Control } from '../control.ts';
import type { Log } from '../log.ts';
import { leftIn } from './asking.ts';
import type { AloneMark } from './marker.ts';
import { newPermitState } from './state.ts';
import type { PermitEffect, PermitEvent, PermitState } from './state.ts';
import { aloneUses, step } from './step.ts';

/** How long a request waits for a permit, in ms. */
export const PERMIT_WAIT_MS = 1_000;
const TICK_MS = 100;
/** Between two tries of a node that ends to be heard, in ms. */
const LEAVE_AGAIN_MS = 300;

/** The right to ask an upstream once. */
export interface Permit {
  /** For a request that went no further: then it does not count. */
  giveBack(): void;
}

/** What a client of a pool is told. */
export interface RateStanding {
  /** This node's part of what is free, as far as it knows. */
  remaining: number;
  /** Until more is free, in ms. */
  resetMs: number;
}

/** What the request path needs of permits. */
export interface Permits {
  /**
   * Waits for a permit, at most a second. Throws `rate_limited` where the pool's cap is reached, and
   * `unavailable` where the control plane is away and this node may not admit the request by itself.
   */
  admit(pool: PoolRecord): Promise<Permit>;
  /** How the pool stands, for the headers of an answer; undefined where the node has not asked lately. */
  standing(pool: PoolRecord): RateStanding | undefined;
}

export interface PermitParts {
  control: Pick<Control, 'requestPermits' | 'promisePermits'>;
  mark: Pick<AloneMark, 'isClear' | 'write'>;
  log: Log;
  /** Monotonic, in ms. */
  now(): number;
  /** Between 0 and 1. */
  random(): number;
  /** Undefined until the control plane knows this process. */
  ownId(): string | undefined;
  store: Pick<ConfigStore, 'current'>;
}

interface Waiter {
  resolve(permit: Permit): void;
  reject(error: GatewayError): void;
  timer: NodeJS.Timeout;
}

/** Permits over a control plane. Call `leave` when the process takes nothing new, `stop` at its end. */
export class NodePermits implements Permits {
  readonly #parts: PermitParts;
  readonly #state: PermitState;
  readonly #waiters = new Map<number, Waiter>();
  readonly #timer: NodeJS.Timeout;
  #lastWaiter = 0;
  #inUse = false;
  /** The promise under way: what is said after it must not be overtaken by it. */
  #promising: Promise<void> = Promise.resolve();
  #leaving: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: PermitParts) {
    this.#parts = parts;
    this.#state = newPermitState(parts.now(), parts.mark.isClear);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  admit({ id: poolId, rpmCap: cap }: PoolRecord): Promise<Permit> {
    this.#lastWaiter += 1;
    const waiter = this.#lastWaiter;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#step({ type: 'GIVE_UP', poolId, waiter }), PERMIT_WAIT_MS);
      this.#waiters.set(waiter, { resolve, reject, timer });
      this.#step({ type: 'ARRIVE', poolId, cap, waiter });
    });
  }

  standing({ id }: PoolRecord): RateStanding | undefined {
    const now = this.#parts.now();
    const meter = this.#state.meters.get(id);
    if (!meter?.known || now - meter.known.at > WINDOW_MS) return undefined;
    const { remaining, resetAt } = meter.known;
    const part = Math.floor(remaining / Math.max(1, this.#state.place.nodes));
    return { remaining: leftIn(meter, now) + part, resetMs: Math.max(0, resetAt - now) };
  }

  /**
   * From now on nothing is admitted without permits, and the control plane is told so until it has heard it:
   * others then have this node's share. Resolves then, or after `stop`; never rejects.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#sayLeaving();
    return this.#leaving;
  }

  /** Leaves, and ends. Takes `limitMs` at most. */
  async stop(limitMs: number): Promise<void> {
    await Promise.race([this.leave(), pause(limitMs)]);
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  async #sayLeaving(): Promise<void> {
    const { control, now, ownId } = this.#parts;
    const state = this.#state;
    state.leaving = true;
    await this.#promising;
    const nodeId = ownId();
    if (nodeId === undefined || !this.#inUse) return;
    const { nodes, index: place } = state.place;
    let heard = state.clock;
    while (!this.#stopped) {
      const alone = heard === null ? [] : aloneUses(state, now());
      try {
        const leaving = heard !== null;
        const answer = await control.promisePermits({ nodeId, heard, nodes, place, alone, leaving });
        if (answer.accepted) return;
        heard = answer.clock;
      } catch {
        await pause(LEAVE_AGAIN_MS);
      }
    }
  }

  #tick(): void {
    this.#inUse ||= this.#parts.store.current?.hasPools === true;
    if (this.#inUse && this.#parts.ownId() !== undefined) this.#step({ type: 'TICK', place: this.#place() });
  }

  #place(): Place {
    const ids = this.#parts.store.current?.settings.nodeIds ?? [];
    return { nodes: ids.length, index: ids.indexOf(this.#parts.ownId() ?? '') };
  }

  #step(event: PermitEvent): void {
    let isMarked = true;
    for (const effect of step(this.#state, event, this.#parts.now())) {
      if (effect.type === 'MARK') isMarked = this.#mark(effect.alone);
      else if (effect.type === 'ADMIT' && effect.grantId === null && !isMarked)
        this.#refuseUnmarked(effect.waiter);
      else this.#do(effect);
    }
  }

  #do(effect: Exclude<PermitEffect, { type: 'MARK' }>): void {
    if (effect.type === 'ASK') void this.#ask(effect);
    else if (effect.type === 'PROMISE') this.#promising = this.#promise(effect);
    else if (effect.type === 'ADMIT') this.#admitted(effect);
    else this.#refused(effect);
  }

  #mark(alone: boolean): boolean {
    try {
      this.#parts.mark.write(alone);
      if (alone)
        this.#parts.log.warn({}, 'pools are served without the control plane, within this node’s share');
      return true;
    } catch (error) {
      this.#parts.log.warn({ reason: reasonOf(error) }, 'the mark of acting alone could not be written');
      if (alone) step(this.#state, { type: 'UNMARKED' }, this.#parts.now());
      return false;
    }
  }

  async #ask({ poolId, want, finished }: Extract<PermitEffect, { type: 'ASK' }>): Promise<void> {
    const { control, now, ownId } = this.#parts;
    const sentAt = now();
    try {
      const answer = await control.requestPermits({ nodeId: ownId() ?? '', poolId, want, finished });
      this.#step({ type: 'ANSWERED', poolId, sentAt, answer });
    } catch {
      // The heartbeat says in the log that the control plane is away.
      this.#step({ type: 'UNANSWERED', poolId });
    }
  }

  async #promise({ heard, place, alone }: Extract<PermitEffect, { type: 'PROMISE' }>): Promise<void> {
    const { control, now, ownId } = this.#parts;
    const sentAt = now();
    try {
      const { clock, accepted, hasRoom } = await control.promisePermits({
        nodeId: ownId() ?? '',
        heard,
        nodes: place.nodes,
        place: place.index,
        alone,
        leaving: false,
      });
      this.#step({ type: 'PROMISED', sentAt, place, clock, accepted, hasRoom });
    } catch {
      this.#step({ type: 'UNPROMISED' });
    }
  }

  #admitted({ waiter, poolId, grantId }: Extract<PermitEffect, { type: 'ADMIT' }>): void {
    const giveBack = (): void => {
      if (grantId !== null) this.#step({ type: 'GIVE_BACK', poolId, grantId });
    };
    this.#settle(waiter)?.resolve({ giveBack });
  }

  #refused({ waiter, code, waitMs, spreadMs }: Extract<PermitEffect, { type: 'REFUSE' }>): void {
    const retryAfterMs = Math.round(waitMs + this.#parts.random() * spreadMs);
    this.#settle(waiter)?.reject(new GatewayError(code, MESSAGES[code], { retryAfterMs }));
  }

  #refuseUnmarked(waiter: number): void {
    const error = new GatewayError('unavailable', MESSAGES.unavailable, { retryAfterMs: PERMIT_WAIT_MS });
    this.#settle(waiter)?.reject(error);
  }

  #settle(id: number): Waiter | undefined {
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
