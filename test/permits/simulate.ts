/**
 * Simulates the permit rules of both planes as they run in production, with a simulated clock and a network
 * that delays, loses and holds up messages. The result tells when requests were admitted.
 */
import { WINDOW_MS } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import {
  hasRoom,
  judgePermits,
  nodeAfterPromise,
  nodeAfterWriteOff,
  useAt,
  usesOf,
} from '../../control-plane/pools/permit.rules.ts';
import type { Grant, PermitNode, Use } from '../../control-plane/pools/permit.rules.ts';
import type {
  PermitAnswer,
  PermitRequest,
  PromiseAnswer,
  PromiseRequest,
} from '../../control-plane/pools/permit.service.ts';
import { newPermitState } from '../../data-plane/permits/state.ts';
import type { PermitEffect, PermitEvent, PermitState } from '../../data-plane/permits/state.ts';
import { applyEvent, recentAloneUses } from '../../data-plane/permits/step.ts';

/** The control plane of a simulation: the service on a database, or its rules in memory. */
export interface ControlPlane {
  request(request: PermitRequest, now: number): Promise<PermitAnswer> | PermitAnswer;
  promise(request: PromiseRequest, now: number): Promise<PromiseAnswer> | PromiseAnswer;
  /** An administrator declares a node gone for good. */
  writeOff(nodeId: string, now: number): Promise<void> | void;
}

/** A network fault between two moments. `away`: messages fail. `frozen`: messages wait until the end. */
export interface Fault {
  from: number;
  until: number;
  /** The node that has the fault; undefined for the control plane. */
  node?: number;
  kind: 'away' | 'frozen';
}

/** Events of a simulation. Times are ms after its start. */
export interface Plan {
  cap: number;
  nodes: number;
  durationMs: number;
  /** Requests per minute at each node. */
  perMinute: readonly number[];
  faults?: readonly Fault[];
  /** Moments at which a node is killed and starts again a second later. */
  kills?: readonly { at: number; node: number }[];
  /** Moments at which a node is registered and starts. All other nodes exist from the start. */
  joins?: readonly { at: number; node: number }[];
  /** Moments at which a node shuts down in good order. */
  leaves?: readonly { at: number; node: number }[];
  /** Moments at which a node is killed for good; an administrator declares it gone some ms later. */
  losses?: readonly { at: number; node: number; writtenOffAfterMs: number }[];
  latencyMs?: number;
  /** Percentage of messages that are lost, and of answers. */
  lostPercent?: number;
  random: () => number;
}

/** When requests were admitted, how many were refused with each code, and how many messages were sent. */
export interface Outcome {
  admitted: number[];
  refused: Record<'rate_limited' | 'unavailable', number>;
  messages: number;
}

/** Largest number of admissions in any 60 s. */
export function worstMinute(times: readonly number[]): number {
  let worst = 0;
  let first = 0;
  const sorted = times.toSorted((one, other) => one - other);
  sorted.forEach((time, at) => {
    while ((sorted[first] ?? 0) <= time - WINDOW_MS) first += 1;
    worst = Math.max(worst, at - first + 1);
  });
  return worst;
}

/** A control plane that applies the production rules to a log in memory. */
export function inMemoryControlPlane(cap: () => number): ControlPlane {
  let grants: Grant[] = [];
  let uses: Use[] = [];
  let nodes: PermitNode[] = [];
  let number = 0;
  return {
    request({ nodeId, want, finished }, now) {
      const over = grants.filter(
        (grant) => grant.nodeId === nodeId && finished.some((each) => each.grantId === grant.id),
      );
      uses.push(...usesOf(finished, over, now));
      grants = grants.filter((grant) => !over.includes(grant) && grant.expiresAt + WINDOW_MS > now);
      uses = uses.filter(({ at }) => at + WINDOW_MS > now);
      const verdict = judgePermits({ cap: cap(), grants, uses, nodes }, { nodeId, want }, now);
      const grantId = verdict.granted > 0 ? `grant ${(number += 1)}` : null;
      if (grantId)
        grants.push({
          id: grantId,
          nodeId,
          permits: verdict.granted,
          grantedAt: now,
          expiresAt: now + 2_000,
        });
      return { ...verdict, grantId, ttlMs: 2_000 };
    },
    promise(request, now) {
      const { heard, nodeId, alone } = request;
      if (heard === null) return { clock: now, accepted: false, hasRoom: false };
      const before = nodes.find((node) => node.nodeId === nodeId);
      const standing = nodeAfterPromise({ ...request, heard, remembers: alone !== null }, before, now);
      if (!standing) return { clock: now, accepted: false, hasRoom: false };
      for (const { used, agoMs } of alone ?? []) uses.push(useAt(now - agoMs, used));
      nodes = [...nodes.filter((node) => node !== before), standing];
      return {
        clock: now,
        accepted: true,
        hasRoom: standing.place === request.place && hasRoom(standing.place, nodeId, { nodes, now }),
      };
    },
    writeOff(nodeId, now) {
      nodes = nodes.map((node) => (node.nodeId === nodeId ? nodeAfterWriteOff(node, now) : node));
    },
  };
}

interface SimulatedNode {
  id: string;
  index: number;
  state: PermitState;
  /** Offset of its clock from the simulated clock, in ms. */
  offset: number;
  isMarked: boolean;
  /** Number of the running process: messages to earlier processes are dropped. */
  life: number;
  lost: boolean;
  /** The registered nodes in the latest message to the node. */
  knownNodes: readonly number[];
}

const POOL = 'pool_simulated';
const TICK_MS = 100;
const WAIT_MS = 1_000;
const TIMEOUT_MS = 2_000;
const REFUSED_MS = 5;
const DOWN_MS = 1_000;

/** Simulates a plan to its end. */
export function play(plan: Plan, controlPlane: ControlPlane): Promise<Outcome> {
  return new Simulation(plan, controlPlane).run();
}

class Simulation {
  readonly #plan: Plan;
  readonly #controlPlane: ControlPlane;
  readonly #nodes: SimulatedNode[];
  readonly #registered = new Set<number>();
  readonly #outcome: Outcome = { admitted: [], refused: { rate_limited: 0, unavailable: 0 }, messages: 0 };
  readonly #queue: { at: number; order: number; work: () => void | Promise<void> }[] = [];
  #order = 0;
  #waiter = 0;
  #now = 0;

  constructor(plan: Plan, controlPlane: ControlPlane) {
    this.#plan = plan;
    this.#controlPlane = controlPlane;
    this.#nodes = Array.from({ length: plan.nodes }, (_, index) => {
      const offset = Math.floor(plan.random() * 1e6) + 0.5;
      // The node has run for a while before the simulation starts.
      const state = newPermitState(offset - 2 * WINDOW_MS, true);
      const empty = { isMarked: false, life: 0, lost: false, knownNodes: [] };
      return { id: `node_${index}`, index, state, offset, ...empty };
    });
  }

  async run(): Promise<Outcome> {
    for (const node of this.#nodes) {
      const joined = this.#plan.joins?.find((each) => each.node === node.index);
      this.#schedule(joined?.at ?? 0, () => this.#start(node, joined !== undefined));
    }
    for (const { at, node } of this.#plan.leaves ?? []) this.#schedule(at, () => this.#leave(node));
    for (const { at, node } of this.#plan.kills ?? []) this.#schedule(at, () => this.#kill(node));
    for (const loss of this.#plan.losses ?? []) this.#schedule(loss.at, () => this.#lose(loss));
    for (
      let next = this.#queue.shift();
      next && next.at < this.#plan.durationMs;
      next = this.#queue.shift()
    ) {
      this.#now = next.at;
      await next.work();
    }
    return this.#outcome;
  }

  #schedule(at: number, work: () => void | Promise<void>): void {
    this.#order += 1;
    const item = { at, order: this.#order, work };
    let place = this.#queue.length;
    while (place > 0 && (this.#queue[place - 1]?.at ?? 0) > at) place -= 1;
    this.#queue.splice(place, 0, item);
  }

  #start(node: SimulatedNode, isNew: boolean): void {
    if (isNew) node.state = newPermitState(this.#now + node.offset, true);
    this.#registered.add(node.index);
    this.#tick(node, node.life);
    this.#arrivals(node);
  }

  /** The node repeats the announcement until it arrives. */
  #leave(index: number): void {
    const node = this.#nodes[index];
    if (!node || !this.#registered.has(index) || node.lost) return;
    this.#registered.delete(index);
    node.life += 1;
    node.lost = true;
    this.#announceLeaving(node, node.life);
  }

  #announceLeaving(node: SimulatedNode, life: number): void {
    if (node.life !== life) return;
    if (this.#isAway(node)) return this.#after(REFUSED_MS, () => this.#announceLeaving(node, life));
    const alone = recentAloneUses(node.state, this.#now + node.offset)?.map((use) => ({ ...use })) ?? null;
    const promise = { nodeId: node.id, heard: this.#clock(), place: node.state.place, alone, leaving: true };
    void this.#controlPlane.promise(promise, this.#clock());
  }

  #after(ms: number, work: () => void | Promise<void>): void {
    this.#schedule(this.#now + ms, work);
  }

  #kill(index: number): void {
    const node = this.#nodes[index];
    if (!node || node.lost || !this.#registered.has(index)) return;
    node.life += 1;
    this.#after(DOWN_MS, () => {
      if (node.lost) return;
      node.state = newPermitState(this.#now + node.offset, !node.isMarked);
      this.#tick(node, node.life);
    });
  }

  #lose({ node: index, writtenOffAfterMs }: { node: number; writtenOffAfterMs: number }): void {
    const node = this.#nodes[index];
    if (!node || !this.#registered.has(index)) return;
    node.life += 1;
    node.lost = true;
    this.#after(writtenOffAfterMs, () => {
      this.#registered.delete(index);
      return this.#controlPlane.writeOff(node.id, this.#clock());
    });
  }

  /** The clock of the control plane. */
  #clock(): number {
    return Math.floor(this.#now) + 1_700_000_000_000;
  }

  #arrivals(node: SimulatedNode): void {
    if (node.lost) return;
    const perMinute = this.#plan.perMinute[node.index] ?? 0;
    if (perMinute === 0) return;
    const gap = (-Math.log(1 - this.#plan.random()) * WINDOW_MS) / perMinute;
    this.#after(gap, () => {
      if (node.lost) return;
      this.#arrivals(node);
      const { life } = node;
      this.#waiter += 1;
      const waiter = this.#waiter;
      this.#dispatch(node, { type: 'ARRIVE', poolId: POOL, cap: this.#plan.cap, waiter });
      this.#after(WAIT_MS, () => {
        if (node.life === life) this.#dispatch(node, { type: 'WAIT_TIMED_OUT', poolId: POOL, waiter });
      });
    });
  }

  #tick(node: SimulatedNode, life: number): void {
    if (node.life !== life) return;
    this.#dispatch(node, { type: 'TICK', place: this.#place(node) });
    this.#after(TICK_MS, () => this.#tick(node, life));
  }

  /** The node's place by the last configuration that it received. */
  #place(node: SimulatedNode): Place {
    if (!this.#isAway(node)) node.knownNodes = [...this.#registered].sort((one, other) => one - other);
    return { nodes: node.knownNodes.length, index: node.knownNodes.indexOf(node.index) };
  }

  #dispatch(node: SimulatedNode, event: PermitEvent): void {
    for (const effect of applyEvent(node.state, event, this.#now + node.offset)) this.#perform(node, effect);
  }

  #perform(node: SimulatedNode, effect: PermitEffect): void {
    if (effect.type === 'ADMIT') this.#outcome.admitted.push(this.#now);
    else if (effect.type === 'REFUSE') this.#outcome.refused[effect.code] += 1;
    else if (effect.type === 'MARK') node.isMarked = effect.alone;
    else this.#exchange(node, effect);
  }

  #exchange(node: SimulatedNode, effect: Extract<PermitEffect, { type: 'REQUEST' | 'PROMISE' }>): void {
    const { life } = node;
    const sentAt = this.#now + node.offset;
    let isOver = false;
    const once = (work: () => void): void => {
      if (isOver || node.life !== life) return;
      isOver = true;
      work();
    };
    const fail = (): void =>
      once(() =>
        this.#dispatch(
          node,
          effect.type === 'REQUEST' ? { type: 'UNANSWERED', poolId: POOL } : { type: 'PROMISE_UNANSWERED' },
        ),
      );
    this.#outcome.messages += 1;
    if (this.#isAway(node)) return this.#after(REFUSED_MS, fail);
    this.#after(TIMEOUT_MS, fail);
    if (this.#losesMessage()) return;
    this.#deliver(node, async () => {
      const event = await this.#answer(node, effect, sentAt);
      if (this.#losesMessage() || this.#isAway(node)) return;
      this.#deliver(node, () => once(() => this.#dispatch(node, event)));
    });
  }

  /** Passes a message through the network in one direction; at a frozen end it waits. */
  #deliver(node: SimulatedNode, work: () => void | Promise<void>): void {
    const latency = this.#plan.random() * (this.#plan.latencyMs ?? 20);
    const arrives = this.#now + latency;
    const frozen = (this.#plan.faults ?? []).filter(
      (fault) => fault.kind === 'frozen' && (fault.node ?? node.index) === node.index,
    );
    const late = frozen.find(({ from, until }) => arrives >= from && arrives < until);
    this.#schedule(late ? late.until : arrives, work);
  }

  async #answer(
    node: SimulatedNode,
    effect: Extract<PermitEffect, { type: 'REQUEST' | 'PROMISE' }>,
    sentAt: number,
  ): Promise<PermitEvent> {
    const now = this.#clock();
    if (effect.type === 'REQUEST') {
      const { want, finished } = effect;
      const answer = await this.#controlPlane.request({ nodeId: node.id, poolId: POOL, want, finished }, now);
      return { type: 'ANSWERED', poolId: POOL, sentAt, answer: { ...answer, userErrors: [] } };
    }
    const { place, aloneUses: alone } = effect;
    const heard = effect.clock === null ? null : Number(effect.clock);
    const promise = { nodeId: node.id, heard, place, alone, leaving: false };
    const { clock, ...verdict } = await this.#controlPlane.promise(promise, now);
    return { type: 'PROMISE_ANSWERED', sentAt, place, clock: String(clock), ...verdict };
  }

  #isAway(node: SimulatedNode): boolean {
    return (this.#plan.faults ?? []).some(
      ({ kind, from, until, node: which }) =>
        kind === 'away' && (which ?? node.index) === node.index && this.#now >= from && this.#now < until,
    );
  }

  #losesMessage(): boolean {
    return this.#plan.random() * 100 < (this.#plan.lostPercent ?? 0);
  }
}
