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

/** What was decided by then has come to its end after a few rounds. */
const ROUNDS_TO_REST = 30;

/**
 * Heals everything and compares the books with what the clients saw: once when all that was under way arrives
 * late, and once when all of it is lost. From then on only what production sends again is sent.
 */
export function wrongAtRest(before: World, rules: Rules, bounds: Bounds): string {
  for (const lost of [false, true]) {
    const what = wrongWhenHealed(before, { rules, bounds, lost });
    if (what) return `at rest, ${lost ? 'all' : 'nothing'} under way lost: ${what}`;
  }
  return '';
}

function wrongWhenHealed(before: World, how: { rules: Rules; bounds: Bounds; lost: boolean }): string {
  const { rules, bounds, lost } = how;
  const world = copyWorld(before);
  const mover = new Mover(world, rules, { ...bounds, leases: Infinity });
  for (const [number, node] of world.nodes.entries()) if (!node.up) mover.restart(number);
  for (const number of world.requests.keys()) finish(mover, number);
  const underWay = world.messages.splice(0);
  if (!lost) for (const message of underWay) deliver(mover, message);
  for (const number of world.nodes.keys()) hangUp(mover, number);
  settleDown(mover);
  // Of what was called back nothing waits for its clients to go away.
  const kept = world.leases.find(
    ({ state, recalled, heard }) => state === 'open' && (bounds.formerControl === true ? heard : recalled),
  );
  mover.idle = true;
  settleDown(mover);
  const what = wrongIn(world, bounds) || wrongForClients(world);
  if (what || world.diskLosses > 0 || world.reclaims > 0) return what;
  if (kept) return `${kept.id} was recalled and is kept`;
  const stuck = world.leases.find(({ state }) => state === 'open');
  if (stuck && bounds.formerControl !== true) return `${stuck.id} is stuck`;
  return world.writtenOff > 0 ? 'money was written off' : '';
}

function wrongForClients(world: World): string {
  for (const [number, { seen, left, phase }] of world.requests.entries()) {
    const delivered = seen === 'all' || (left && phase === 'done');
    if (delivered && !world.charged.includes(number) && !world.lost.includes(number))
      return `r${number} was delivered and never charged`;
  }
  return '';
}

function finish(mover: Mover, number: number): void {
  const request = mover.request(number);
  if (request.phase === 'waiting')
    mover.tell(request.node, { type: 'GIVE_UP', waiter: number, purseId: 'w', final: true });
  if (request.phase === 'held') mover.fail(number);
  if (request.phase === 'checked' || request.phase === 'sent') mover.write(number);
  if (request.phase === 'committed') Object.assign(request, { phase: 'done', seen: 'all' });
}

/** Calls that are under way end without an answer, as they do when a connection is lost. */
function hangUp(mover: Mover, number: number): void {
  const { leases, recalled, requests } = mover.at(number).ledger;
  for (const [no, { resendAt }] of [...requests])
    if (resendAt === null) mover.tell(number, { type: 'UNANSWERED', no });
  for (const [leaseId, { closing }] of [...leases, ...recalled])
    if (closing) mover.tell(number, { type: 'NOT_CLOSED', leaseId });
}

/** Lets nodes and control plane do what they do again and again, until nothing comes of it. */
function settleDown(mover: Mover): void {
  const { world } = mover;
  const encoding = new Encoding();
  for (let round = 0, last = ''; round < ROUNDS_TO_REST; round += 1) {
    if (mover.retells)
      for (const lease of world.leases)
        if (lease.state === 'open' && lease.recalled) mover.send(`recall ${lease.id}`);
    for (const number of world.nodes.keys()) {
      mover.flush(number);
      mover.report(number);
      mover.tell(number, { type: 'RETRY', purseId: 'w' });
      mover.tell(number, { type: 'TICK' });
    }
    while (world.messages.length > 0) for (const message of world.messages.splice(0)) deliver(mover, message);
    const text = encoding.write(world);
    if (text === last) return;
    last = text;
  }
}
