/** Visits every reachable state of a world within bounds, and checks each of them. */
import { Encoding } from './encoding.ts';
import { deliver, transitionsOf } from './transitions.ts';
import { copyWorld, newWorld } from './state.ts';
import type { Bounds, World } from './state.ts';
import { WorldDriver } from './world.ts';
import type { Rules } from './world.ts';

interface ExploreOptions {
  bounds: Bounds;
  rules: Rules;
  /** Maximum number of states. */
  limit: number;
  /** Every n-th state is also healed and compared with what its clients received. */
  quiescenceEvery: number;
}

export interface Exploration {
  states: number;
  transitions: number;
  /** Whether every reachable state was visited. */
  exhausted: boolean;
  violation?: { what: string; trace: string[] };
}

/** How a state was reached. It does not hold the states, so those of earlier levels can be freed. */
interface TraceStep {
  name: string;
  from: TraceStep | undefined;
}

interface Visit {
  world: World;
  step: TraceStep;
}

/** Searches breadth first, so that the trace of a violation is a shortest one. */
export function explore({ bounds, rules, limit, quiescenceEvery }: ExploreOptions): Exploration {
  const encoding = new Encoding();
  const first: Visit = { world: newWorld(bounds), step: { name: 'begin', from: undefined } };
  const seen = new Set([encoding.textOf(first.world)]);
  let frontier = [first];
  let transitions = 0;
  while (frontier.length > 0) {
    const next: Visit[] = [];
    for (const visit of frontier) {
      for (const [name, apply] of transitionsOf(new WorldDriver(visit.world, rules, bounds))) {
        const world = copyWorld(visit.world);
        apply(new WorldDriver(world, rules, bounds));
        transitions += 1;
        const text = encoding.textOf(world);
        if (seen.has(text)) continue;
        seen.add(text);
        const step: TraceStep = { name, from: visit.step };
        const what =
          violationIn(world, bounds) ||
          (seen.size % quiescenceEvery === 0 ? violationAtQuiescence(world, rules, bounds) : '');
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

function traceOf(step: TraceStep): string[] {
  const trace: string[] = [];
  for (let at: TraceStep | undefined = step; at; at = at.from) trace.unshift(at.name);
  return trace;
}

/** The violated invariant of a state; empty if there is none. */
export function violationIn(world: World, { total }: Bounds): string {
  if (world.violation) return world.violation;
  if (world.balance < 0) return 'the wallet is negative';
  const open = world.leases.filter((lease) => lease.state === 'open');
  const inLeases = open.reduce((sum, lease) => sum + lease.amount - lease.charged, 0);
  if (world.balance + inLeases + world.revenue - world.writtenOff !== total)
    return 'money was created or lost';
  if (new Set(world.charged).size !== world.charged.length) return 'a request was charged twice';
  for (const number of world.charged) {
    const request = world.requests[number];
    if (!request || ['nothing', 'error'].includes(request.seen) || request.phase === 'failed')
      return `r${number} failed and was charged`;
  }
  if (world.writtenOff > 0 && world.reclaims === 0) return 'money was written off without a lost node';
  return violationInNodes(world);
}

function violationInNodes(world: World): string {
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

/** After this many rounds nothing changes any more. */
const ROUNDS_MAX = 30;

/**
 * Heals all faults, runs the world until nothing changes, and compares balances with what clients received.
 * Tries two cases: all messages under way arrive late, or all are lost. Afterwards only repeats are sent.
 */
export function violationAtQuiescence(before: World, rules: Rules, bounds: Bounds): string {
  for (const lost of [false, true]) {
    const what = violationAfterHealing(before, { rules, bounds, lost });
    if (what) return `after healing, messages under way ${lost ? 'lost' : 'delivered'}: ${what}`;
  }
  return '';
}

function violationAfterHealing(before: World, how: { rules: Rules; bounds: Bounds; lost: boolean }): string {
  const { rules, bounds, lost } = how;
  const world = copyWorld(before);
  const driver = new WorldDriver(world, rules, { ...bounds, leases: Infinity });
  for (const [number, node] of world.nodes.entries()) if (!node.up) driver.restart(number);
  for (const number of world.requests.keys()) finishRequest(driver, number);
  const underWay = world.messages.splice(0);
  if (!lost) for (const message of underWay) deliver(driver, message);
  for (const number of world.nodes.keys()) failPendingMessages(driver, number);
  runToQuiescence(driver);
  // Recalled leases must be returned without waiting until their clients are idle.
  const kept = world.leases.find(
    ({ state, recalled, recallDelivered }) =>
      state === 'open' && (bounds.earlierControl === true ? recallDelivered : recalled),
  );
  driver.idle = true;
  runToQuiescence(driver);
  const what = violationIn(world, bounds) || violationForClients(world);
  if (what || world.diskLosses > 0 || world.reclaims > 0) return what;
  if (kept) return `${kept.id} was recalled and not returned`;
  const stuck = world.leases.find(({ state }) => state === 'open');
  if (stuck && bounds.earlierControl !== true) return `${stuck.id} is never closed`;
  return world.writtenOff > 0 ? 'money was written off' : '';
}

function violationForClients(world: World): string {
  for (const [number, { seen, left, phase }] of world.requests.entries()) {
    const delivered = seen === 'all' || (left && phase === 'done');
    if (delivered && !world.charged.includes(number) && !world.lost.includes(number))
      return `r${number} was delivered and never charged`;
  }
  return '';
}

function finishRequest(driver: WorldDriver, number: number): void {
  const request = driver.request(number);
  if (request.phase === 'waiting')
    driver.dispatch(request.node, { type: 'GIVE_UP', waiter: number, budgetId: 'w', final: true });
  if (request.phase === 'held') driver.fail(number);
  if (request.phase === 'checked' || request.phase === 'sent') driver.write(number);
  if (request.phase === 'committed') Object.assign(request, { phase: 'done', seen: 'all' });
}

/** Fails all messages under way, as if their connections were lost. */
function failPendingMessages(driver: WorldDriver, number: number): void {
  const { leases, unknownRecalls, requests } = driver.nodeAt(number).ledger;
  for (const [no, { resendAt }] of [...requests])
    if (resendAt === null) driver.dispatch(number, { type: 'UNANSWERED', no });
  for (const [leaseId, { closeInFlight }] of [...leases, ...unknownRecalls])
    if (closeInFlight) driver.dispatch(number, { type: 'NOT_CLOSED', leaseId });
}

/** Repeats everything that nodes and control plane do periodically, until nothing changes. */
function runToQuiescence(driver: WorldDriver): void {
  const { world } = driver;
  const encoding = new Encoding();
  for (let round = 0, last = ''; round < ROUNDS_MAX; round += 1) {
    if (driver.repeatsRecalls)
      for (const lease of world.leases)
        if (lease.state === 'open' && lease.recalled) driver.send(`recall ${lease.id}`);
    for (const number of world.nodes.keys()) {
      driver.flush(number);
      driver.report(number);
      driver.dispatch(number, { type: 'RETRY', budgetId: 'w' });
      driver.dispatch(number, { type: 'TICK' });
    }
    while (world.messages.length > 0)
      for (const message of world.messages.splice(0)) deliver(driver, message);
    const text = encoding.write(world);
    if (text === last) return;
    last = text;
  }
}
