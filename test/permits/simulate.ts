/**
 * Nodes and a control plane with a clock of their own: the rules of both planes as they run, and a network
 * that is late, loses things and stands still. A run tells when requests were admitted.
 */
import { WINDOW_MS } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import {
  hasRoom,
  judge,
  promised,
  useAt,
  usesOf,
  writtenOff,
} from '../../control-plane/pools/permit.rules.ts';
import type { Grant, Standing, Use } from '../../control-plane/pools/permit.rules.ts';
import type {
  PermitAnswer,
  PermitRequest,
  PromiseAnswer,
  PromiseRequest,
} from '../../control-plane/pools/permit.service.ts';
import { newPermitState } from '../../data-plane/permits/state.ts';
import type { PermitEffect, PermitEvent, PermitState } from '../../data-plane/permits/state.ts';
import { aloneUses, step } from '../../data-plane/permits/step.ts';

/** The control plane of a run: the service on a database, or its rules in memory. */
export interface Office {
  request(request: PermitRequest, now: number): Promise<PermitAnswer> | PermitAnswer;
  promise(request: PromiseRequest, now: number): Promise<PromiseAnswer> | PromiseAnswer;
  /** An administrator says that a node is gone for good. */
  writeOff(nodeId: string, now: number): Promise<void> | void;
}

/** What happens to the network: between these moments nothing passes; a frozen end is late instead. */
export interface Trouble {
  from: number;
  until: number;
  /** Which node; undefined is the control plane itself. */
  node?: number;
  kind: 'away' | 'frozen';
}

export interface Plan {
  cap: number;
  nodes: number;
  forMs: number;
  /** Requests a minute at each node. */
  perMinute: readonly number[];
  troubles?: readonly Trouble[];
  /** Moments at which a node is killed and starts again a second later. */
  kills?: readonly { at: number; node: number }[];
  /** Moments at which a node is killed for good, and an administrator says so, so many ms later. */
  /** Moments at which a node is registered and starts; the others are there from the beginning. */
  joins?: readonly { at: number; node: number }[];
  /** Moments at which a node is told to end, and ends in good order. */
  leaves?: readonly { at: number; node: number }[];
  losses?: readonly { at: number; node: number; saidAfterMs: number }[];
  latencyMs?: number;
  /** How many of 100 messages, and as many answers, are lost. */
  lostPercent?: number;
  random: () => number;
}

/** What became of the requests: when they were admitted, and how many were refused with which code. */
export interface Outcome {
  admitted: number[];
  refused: Record<'rate_limited' | 'unavailable', number>;
  messages: number;
}

/** The most admissions in any 60 s. */
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

/** The rules of the control plane over a log in memory. */
export function memoryOffice(cap: () => number): Office {
  let grants: Grant[] = [];
  let uses: Use[] = [];
  let nodes: Standing[] = [];
  let number = 0;
  return {
    request({ nodeId, want, finished }, now) {
      const over = grants.filter(
        (grant) => grant.nodeId === nodeId && finished.some((each) => each.grantId === grant.id),
      );
      uses.push(...usesOf(finished, over, now));
      grants = grants.filter((grant) => !over.includes(grant) && grant.expiresAt + WINDOW_MS > now);
      uses = uses.filter(({ at }) => at + WINDOW_MS > now);
      const verdict = judge({ cap: cap(), grants, uses, nodes }, { nodeId, want }, now);
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
      const standing = promised({ ...request, heard, remembers: alone !== null }, before, now);
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
      nodes = nodes.map((node) => (node.nodeId === nodeId ? writtenOff(node, now) : node));
    },
  };
}

interface SimulatedNode {
  id: string;
  index: number;
  state: PermitState;
  /** Its clock runs from another beginning. */
  offset: number;
  marked: boolean;
  /** Messages of a process that was killed find nobody. */
  life: number;
  lost: boolean;
  /** The registered nodes, as far as it knows. */
  known: readonly number[];
}

const POOL = 'pool_simulated';
const TICK_MS = 100;
const WAIT_MS = 1_000;
const TIMEOUT_MS = 2_000;
const REFUSED_MS = 5;
const DOWN_MS = 1_000;

/** Plays a plan to its end. */
export function play(plan: Plan, office: Office): Promise<Outcome> {
  return new Simulation(plan, office).run();
}

class Simulation {
  readonly #plan: Plan;
  readonly #office: Office;
  readonly #nodes: SimulatedNode[];
  readonly #registered = new Set<number>();
  readonly #outcome: Outcome = { admitted: [], refused: { rate_limited: 0, unavailable: 0 }, messages: 0 };
  readonly #queue: { at: number; order: number; work: () => void | Promise<void> }[] = [];
  #order = 0;
  #waiter = 0;
  #now = 0;

  constructor(plan: Plan, office: Office) {
    this.#plan = plan;
    this.#office = office;
    this.#nodes = Array.from({ length: plan.nodes }, (_, index) => {
      const offset = Math.floor(plan.random() * 1e6) + 0.5;
      // A machine that has run for a while: its first minute is not what is looked at.
      const state = newPermitState(offset - 2 * WINDOW_MS, true);
      return { id: `node_${index}`, index, state, offset, marked: false, life: 0, lost: false, known: [] };
    });
  }

  async run(): Promise<Outcome> {
    for (const node of this.#nodes) {
      const joined = this.#plan.joins?.find((each) => each.node === node.index);
      this.#at(joined?.at ?? 0, () => this.#start(node, joined !== undefined));
    }
    for (const { at, node } of this.#plan.leaves ?? []) this.#at(at, () => this.#leave(node));
    for (const { at, node } of this.#plan.kills ?? []) this.#at(at, () => this.#kill(node));
    for (const loss of this.#plan.losses ?? []) this.#at(loss.at, () => this.#lose(loss));
    for (let next = this.#queue.shift(); next && next.at < this.#plan.forMs; next = this.#queue.shift()) {
      this.#now = next.at;
      await next.work();
    }
    return this.#outcome;
  }

  #at(at: number, work: () => void | Promise<void>): void {
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

  /** It is said whatever befalls the network: until it has arrived, the node goes on saying it. */
  #leave(index: number): void {
    const node = this.#nodes[index];
    if (!node || !this.#registered.has(index) || node.lost) return;
    this.#registered.delete(index);
    node.life += 1;
    node.lost = true;
    this.#sayLeaving(node, node.life);
  }

  #sayLeaving(node: SimulatedNode, life: number): void {
    if (node.life !== life) return;
    if (this.#isAway(node)) return this.#after(REFUSED_MS, () => this.#sayLeaving(node, life));
    const alone = aloneUses(node.state, this.#now + node.offset)?.map((use) => ({ ...use })) ?? null;
    const promise = { nodeId: node.id, heard: this.#clock(), place: node.state.place, alone, leaving: true };
    void this.#office.promise(promise, this.#clock());
  }

  #after(ms: number, work: () => void | Promise<void>): void {
    this.#at(this.#now + ms, work);
  }

  #kill(index: number): void {
    const node = this.#nodes[index];
    if (!node || node.lost || !this.#registered.has(index)) return;
    node.life += 1;
    this.#after(DOWN_MS, () => {
      if (node.lost) return;
      node.state = newPermitState(this.#now + node.offset, !node.marked);
      this.#tick(node, node.life);
    });
  }

  #lose({ node: index, saidAfterMs }: { node: number; saidAfterMs: number }): void {
    const node = this.#nodes[index];
    if (!node || !this.#registered.has(index)) return;
    node.life += 1;
    node.lost = true;
    this.#after(saidAfterMs, () => {
      this.#registered.delete(index);
      return this.#office.writeOff(node.id, this.#clock());
    });
  }

  /** The control plane's. */
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
      this.#send(node, { type: 'ARRIVE', poolId: POOL, cap: this.#plan.cap, waiter });
      this.#after(WAIT_MS, () => {
        if (node.life === life) this.#send(node, { type: 'GIVE_UP', poolId: POOL, waiter });
      });
    });
  }

  #tick(node: SimulatedNode, life: number): void {
    if (node.life !== life) return;
    this.#send(node, { type: 'TICK', place: this.#place(node) });
    this.#after(TICK_MS, () => this.#tick(node, life));
  }

  /** As the last configuration says that the node has heard. */
  #place(node: SimulatedNode): Place {
    if (!this.#isAway(node)) node.known = [...this.#registered].sort((one, other) => one - other);
    return { nodes: node.known.length, index: node.known.indexOf(node.index) };
  }

  #send(node: SimulatedNode, event: PermitEvent): void {
    for (const effect of step(node.state, event, this.#now + node.offset)) this.#do(node, effect);
  }

  #do(node: SimulatedNode, effect: PermitEffect): void {
    if (effect.type === 'ADMIT') this.#outcome.admitted.push(this.#now);
    else if (effect.type === 'REFUSE') this.#outcome.refused[effect.code] += 1;
    else if (effect.type === 'MARK') node.marked = effect.alone;
    else this.#talk(node, effect);
  }

  #talk(node: SimulatedNode, effect: Extract<PermitEffect, { type: 'ASK' | 'PROMISE' }>): void {
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
        this.#send(
          node,
          effect.type === 'ASK' ? { type: 'UNANSWERED', poolId: POOL } : { type: 'UNPROMISED' },
        ),
      );
    this.#outcome.messages += 1;
    if (this.#isAway(node)) return this.#after(REFUSED_MS, fail);
    this.#after(TIMEOUT_MS, fail);
    if (this.#isLost()) return;
    this.#deliver(node, async () => {
      const event = await this.#answer(node, effect, sentAt);
      if (this.#isLost() || this.#isAway(node)) return;
      this.#deliver(node, () => once(() => this.#send(node, event)));
    });
  }

  /** One way through the network; what comes to a frozen end waits there. */
  #deliver(node: SimulatedNode, work: () => void | Promise<void>): void {
    const latency = this.#plan.random() * (this.#plan.latencyMs ?? 20);
    const arrives = this.#now + latency;
    const frozen = (this.#plan.troubles ?? []).filter(
      (trouble) => trouble.kind === 'frozen' && (trouble.node ?? node.index) === node.index,
    );
    const late = frozen.find(({ from, until }) => arrives >= from && arrives < until);
    this.#at(late ? late.until : arrives, work);
  }

  async #answer(
    node: SimulatedNode,
    effect: Extract<PermitEffect, { type: 'ASK' | 'PROMISE' }>,
    sentAt: number,
  ): Promise<PermitEvent> {
    const now = this.#clock();
    if (effect.type === 'ASK') {
      const { want, finished } = effect;
      const answer = await this.#office.request({ nodeId: node.id, poolId: POOL, want, finished }, now);
      return { type: 'ANSWERED', poolId: POOL, sentAt, answer: { ...answer, userErrors: [] } };
    }
    const { place, alone } = effect;
    const heard = effect.heard === null ? null : Number(effect.heard);
    const promise = { nodeId: node.id, heard, place, alone, leaving: false };
    const { clock, ...verdict } = await this.#office.promise(promise, now);
    return { type: 'PROMISED', sentAt, place, clock: String(clock), ...verdict };
  }

  #isAway(node: SimulatedNode): boolean {
    return (this.#plan.troubles ?? []).some(
      ({ kind, from, until, node: which }) =>
        kind === 'away' && (which ?? node.index) === node.index && this.#now >= from && this.#now < until,
    );
  }

  #isLost(): boolean {
    return this.#plan.random() * 100 < (this.#plan.lostPercent ?? 0);
  }
}
