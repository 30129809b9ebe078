/** Runs one soak run: honest traffic alone, then with every attack in turn, then alone again. */
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

/** A plan, and where to tell which part begins. */
export interface SoakOptions extends SoakPlan {
  print(line: string): void;
}

/** A part of the run. */
export interface Phase {
  /** Name of the attack, `quiet`, or `rest`. */
  name: string;
  startedAt: number;
  endedAt: number;
  samples: Sample[];
  before: Stored;
  after: Stored;
  /** The heaps at the end, without garbage. */
  heap: HeldHeap;
  /** Counts of the attacker. */
  counts: Counts | undefined;
}

/** Records of a run. */
export interface SoakRecord {
  seed: number;
  heapMegabytes: number;
  phases: Phase[];
  seen: Observation[];
  deaths: string[];
}

const SAMPLE_EVERY_MS = 1_000;
/** Time that an attacker has to start and to stop, in ms. */
const MARGIN_MS = 20_000;
/** Pause between two attacks, so that refusals of one are not counted for the next, in ms. */
const BETWEEN_MS = 2_000;

/** Runs everything and returns the records. Throws if the site cannot be started. */
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

/** Runs one attack in a process of its own, and returns what it counted, or how its process ended. */
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
