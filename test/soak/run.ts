/**
 * One soak run. Honest traffic runs from the first to the last phase: first without attacks, then with one
 * part of the plan after another, then without attacks again.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '../chaos/random.ts';
import type { Counts } from './attack.ts';
import type { Order } from './attacker.ts';
import { startHonest } from './honest.ts';
import type { Observation } from './honest.ts';
import { AND } from './options.ts';
import type { SoakPlan } from './options.ts';
import { heldHeap, sample, stored } from './samples.ts';
import type { HeldHeap, Sample, Stored } from './samples.ts';
import { startSite } from './site.ts';
import type { Site } from './site.ts';

/** The plan of a run, and its output. */
export interface SoakOptions extends SoakPlan {
  /** Prints the name of each phase when the phase begins. */
  print(line: string): void;
}

/** The measurements of one part of the run. Times are of the wall clock, in ms. */
export interface Phase {
  /** Names of the attacks; `quiet` is the phase before all attacks, `rest` the phase after them. */
  name: string;
  /** Number of attacks at the same time. */
  attacks: number;
  startedAt: number;
  endedAt: number;
  /** One sample per second. */
  samples: Sample[];
  /** Rows and files at the start of the phase, and at its end. */
  before: Stored;
  after: Stored;
  /** The heaps at the end, without garbage. */
  heap: HeldHeap;
  /** Counts of all attackers; undefined in a phase without attack. */
  counts: Counts | undefined;
}

/** All measurements of a run. */
export interface SoakRecord {
  seed: number;
  heapMegabytes: number;
  phases: Phase[];
  /** Results of the honest clients, over all phases. */
  seen: Observation[];
  /** Unexpected exits of a plane, one sentence each. No attack starts after the first exit. */
  deaths: string[];
}

const SAMPLE_EVERY_MS = 1_000;
/** The process of an attacker is killed this long after the time of its attack, in ms. */
const MARGIN_MS = 20_000;
/** Pause after each attack, in ms. Late refusals of one attack are not counted in the next phase. */
const BETWEEN_MS = 2_000;

/**
 * Starts both planes and the honest clients, runs all phases, stops everything, and returns the measurements.
 * Throws if the planes cannot be started.
 */
export async function runSoak(options: SoakOptions): Promise<SoakRecord> {
  const site = await startSite(options.heapMegabytes);
  const random = randomOf(options.seed);
  let running = true;
  try {
    const honest = await startHonest({ site, random: random.fork('honest'), running: () => running });
    const phases: Phase[] = [];
    await sleep(options.warmUpMs);
    options.print('without attacks');
    phases.push(await phase(site, { name: 'quiet', attacks: 0 }, () => sleep(options.quietMs)));
    for (const names of options.parts) {
      if (site.deaths.length > 0) break;
      const name = names.join(AND);
      options.print(`attack: ${name}`);
      const orders = names.map((each) => ({
        ...{ attack: each, target: site.target },
        ...{ seed: random.between(0, 1_000_000), limitMs: options.attackMs },
      }));
      phases.push(await phase(site, { name, attacks: names.length }, () => attackTogether(orders)));
      await sleep(BETWEEN_MS);
    }
    options.print('after the attacks');
    await sleep(options.restMs / 2);
    phases.push(await phase(site, { name: 'rest', attacks: 0 }, () => sleep(options.restMs / 2)));
    running = false;
    await honest.ended;
    const { seed, heapMegabytes } = options;
    return { seed, heapMegabytes, phases, seen: honest.seen(), deaths: site.deaths };
  } finally {
    running = false;
    await site.close();
  }
}

/** Measures both planes while `act` runs. */
async function phase(
  { house }: Site,
  part: Pick<Phase, 'name' | 'attacks'>,
  act: () => Promise<Counts | void>,
): Promise<Phase> {
  const before = await stored(house);
  const startedAt = Date.now();
  const samples: Sample[] = [];
  let active = true;
  const sampling = (async () => {
    while (active) {
      samples.push(await sample(house));
      await sleep(SAMPLE_EVERY_MS);
    }
  })();
  try {
    const counts = (await act()) ?? undefined;
    const endedAt = Date.now();
    active = false;
    await sampling;
    const heap = await heldHeap(house);
    return { ...part, startedAt, endedAt, samples, before, after: await stored(house), heap, counts };
  } finally {
    active = false;
  }
}

/** Runs the attacks at the same time, and returns the sums of their counts. */
async function attackTogether(orders: readonly Order[]): Promise<Counts> {
  const sum: Counts = { bytesSent: 0, ends: {}, paid: 0 };
  for (const counts of await Promise.all(orders.map(attack))) {
    sum.bytesSent += counts.bytesSent;
    sum.paid += counts.paid;
    for (const [end, count] of Object.entries(counts.ends)) sum.ends[end] = (sum.ends[end] ?? 0) + count;
  }
  return sum;
}

/**
 * Runs one attack in a child process and returns its counts. If the process exits without counts, the result
 * contains the exit code or signal as the only end.
 */
async function attack(order: Order): Promise<Counts> {
  const child = fork(join(import.meta.dirname, 'attacker.ts'), [], {
    // A session of its own: Linux shares processor time by session before it looks at priorities.
    detached: true,
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  });
  const kill = setTimeout(() => child.kill('SIGKILL'), order.limitMs + MARGIN_MS);
  try {
    return await new Promise<Counts>((resolve) => {
      child.once('message', (counts: Counts) => resolve(counts));
      child.once('exit', (code, signal) =>
        resolve({ bytesSent: 0, ends: { [`the attacker exited with ${code ?? signal}`]: 1 }, paid: 0 }),
      );
      child.send(order);
    });
  } finally {
    clearTimeout(kill);
  }
}
