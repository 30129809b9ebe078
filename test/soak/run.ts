/**
 * One soak run. Honest traffic runs from the first to the last phase: first without attacks, then with one
 * attack after another, then without attacks again.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '../chaos/random.ts';
import type { Counts } from './attack.ts';
import type { Order } from './attacker.ts';
import { startHonest } from './honest.ts';
import type { Observation } from './honest.ts';
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
  /** Name of the attack; `quiet` is the phase before all attacks, `rest` the phase after them. */
  name: string;
  startedAt: number;
  endedAt: number;
  /** One sample per second. */
  samples: Sample[];
  /** Rows and files at the start of the phase, and at its end. */
  before: Stored;
  after: Stored;
  /** The heaps at the end, without garbage. */
  heap: HeldHeap;
  /** Counts of the attacker; undefined in a phase without attack. */
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
    phases.push(await phase(site, 'quiet', () => sleep(options.quietMs)));
    for (const name of options.attacks) {
      if (site.deaths.length > 0) break;
      options.print(`attack: ${name}`);
      const seed = random.between(0, 1_000_000);
      const order = { attack: name, target: site.target, seed, limitMs: options.attackMs };
      phases.push(await phase(site, name, () => attack(order)));
      await sleep(BETWEEN_MS);
    }
    options.print('after the attacks');
    await sleep(options.restMs / 2);
    phases.push(await phase(site, 'rest', () => sleep(options.restMs / 2)));
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
async function phase({ house }: Site, name: string, act: () => Promise<Counts | void>): Promise<Phase> {
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
    return { name, startedAt, endedAt, samples, before, after: await stored(house), heap, counts };
  } finally {
    active = false;
  }
}

/**
 * Runs one attack in a child process and returns its counts. If the process exits without counts, the result
 * contains the exit code or signal as the only end.
 */
async function attack(order: Order): Promise<Counts> {
  const child = fork(join(import.meta.dirname, 'attacker.ts'), [], {
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
