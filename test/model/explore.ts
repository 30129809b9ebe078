/** Visits every reachable state of the world within bounds, checks each, and lets it come to rest. */
import { Encoding } from './encoding.ts';
import { deliver, movesOf } from './moves.ts';
import { copyWorld, newWorld } from './state.ts';
import type { Bounds, World } from './state.ts';
import { Mover } from './world.ts';
import type { Rules } from './world.ts';

export interface ExploreOptions {
  bounds: Bounds;
  rules: Rules;
  /** Stop after so many states. */
  limit: number;
  /** Every how manieth state comes to rest and is compared with what its clients saw. */
  restEvery: number;
}

export interface Exploration {
  states: number;
  transitions: number;
  /** Whether every reachable state was visited. */
  exhausted: boolean;
  violation?: { what: string; trace: string[] };
}

/** How a state was reached, without the state: the worlds of former levels can be forgotten. */
interface Step {
  name: string;
  from: Step | undefined;
}

interface Visit {
  world: World;
  step: Step;
}

/** Breadth first from the beginning, so that a violation comes with a shortest trace. */
export function explore({ bounds, rules, limit, restEvery }: ExploreOptions): Exploration {
  const encoding = new Encoding();
  const first: Visit = { world: newWorld(bounds), step: { name: 'begin', from: undefined } };
  const seen = new Set([encoding.textOf(first.world)]);
  let frontier = [first];
  let transitions = 0;
  while (frontier.length > 0) {
    const next: Visit[] = [];
    for (const visit of frontier) {
      for (const [name, apply] of movesOf(new Mover(visit.world, rules, bounds))) {
        const world = copyWorld(visit.world);
        apply(new Mover(world, rules, bounds));
        transitions += 1;
        const text = encoding.textOf(world);
        if (seen.has(text)) continue;
        seen.add(text);
        const step: Step = { name, from: visit.step };
        const what =
          wrongIn(world, bounds) || (seen.size % restEvery === 0 ? wrongAtRest(world, rules, bounds) : '');
        if (what)
          return {
            states: seen.size,
            transitions,
            exhausted: false,
            violation: { what, trace: traceOf(step) },
          };
        if (seen.size >= limit) return { states: seen.size, transitions, exhausted: false };
        next.push({ world, step });
      }
    }
    frontier = next;
  }
  return { states: seen.size, transitions, exhausted: true };
}

function traceOf(step: Step): string[] {
  const trace: string[] = [];
  for (let at: Step | undefined = step; at; at = at.from) trace.unshift(at.name);
  return trace;
}

/** What is wrong with a state; empty when nothing is. */
export function wrongIn(world: World, { total }: Bounds): string {
  if (world.bad) return world.bad;
  if (world.balance < 0) return 'the wallet is negative';
  const open = world.leases.filter((lease) => lease.state === 'open');
  const parked = open.reduce((sum, lease) => sum + lease.amount - lease.charged, 0);
  if (world.balance + parked + world.revenue - world.writtenOff !== total) return 'money was made or lost';
  if (new Set(world.charged).size !== world.charged.length) return 'a request was charged twice';
  for (const number of world.charged) {
    const request = world.requests[number];
    if (!request || ['nothing', 'error'].includes(request.seen) || request.phase === 'failed')
      return `r${number} failed and was charged`;
  }
  if (world.writtenOff > 0 && world.reclaims === 0) return 'money was written off without a lost node';
  return wrongInNodes(world);
}

function wrongInNodes(world: World): string {
  for (const [number, node] of world.nodes.entries()) {
    for (const lease of node.ledger.leases.values()) {
      const held = world.requests.filter(
        (request) =>
          request.node === number &&
          request.leaseId === lease.id &&
          ['held', 'checked', 'sent'].includes(request.phase),
      ).length;
      if (node.up && lease.remaining < 0n) return `${lease.id} is overdrawn on its node`;
      if (node.up && lease.holds !== held) return `${lease.id} counts ${lease.holds} holds of ${held}`;
      if (node.up && lease.remaining + lease.sum + BigInt(held) !== lease.amount)
        return `${lease.id} does not add up on its node`;
    }
  }
  return '';
}

/** Each old copy of a question may get a lease, one after the other, which comes back a round later. */
const ROUNDS_TO_REST = 60;

/**
 * Heals everything, lets all messages arrive, all questions be answered and all waits end, and compares the
 * books with what the clients saw.
 */
export function wrongAtRest(before: World, rules: Rules, bounds: Bounds): string {
  const world = copyWorld(before);
  const mover = new Mover(world, rules, { ...bounds, leases: Infinity });
  for (const [number, node] of world.nodes.entries()) if (!node.up) mover.restart(number);
  for (const number of world.requests.keys()) finish(mover, number);
  const encoding = new Encoding();
  for (let round = 0, last = ''; round < ROUNDS_TO_REST; round += 1) {
    settleDown(mover);
    const text = encoding.write(world);
    if (text === last) break;
    last = text;
  }
  const what = wrongIn(world, bounds);
  if (what) return `at rest: ${what}`;
  for (const [number, { seen, left }] of world.requests.entries()) {
    const delivered = seen === 'all' || (left && world.requests[number]?.phase === 'done');
    if (delivered && !world.charged.includes(number) && !world.lost.includes(number)) {
      return `at rest: r${number} was delivered and never charged`;
    }
  }
  if (world.diskLosses > 0 || world.reclaims > 0) return '';
  const stuck = world.leases.find((lease) => lease.state === 'open');
  if (stuck) return `at rest: ${stuck.id} is stuck`;
  return world.writtenOff > 0 ? 'at rest: money was written off' : '';
}

function finish(mover: Mover, number: number): void {
  const request = mover.request(number);
  if (request.phase === 'waiting')
    mover.tell(request.node, { type: 'GIVE_UP', waiter: number, purseId: 'w', final: true });
  if (request.phase === 'held') mover.fail(number);
  if (request.phase === 'checked' || request.phase === 'sent') mover.write(number);
  if (request.phase === 'committed') Object.assign(request, { phase: 'done', seen: 'all' });
}

function settleDown(mover: Mover): void {
  const { world } = mover;
  for (const lease of world.leases) if (lease.state === 'open') mover.send(`recall ${lease.id}`);
  for (const message of [...world.messages]) deliver(mover, message);
  for (const number of world.nodes.keys()) {
    mover.flush(number);
    mover.report(number);
    mover.tell(number, { type: 'RETRY', purseId: 'w' });
    mover.tell(number, { type: 'TICK' });
  }
}
