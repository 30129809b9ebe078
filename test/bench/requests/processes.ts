/** The CPU time, memory and profiles of the measured processes. */
import { readFileSync, readdirSync } from 'node:fs';
import type { HouseProcess } from '../../house/process.ts';
import type { Heavy } from '../profile.ts';

/** The report of one process; see `report-usage.ts`. */
export interface Usage {
  cpuMicros: number;
  residentBytes: number;
  /** The longest pause of the garbage collector since the last report, in ms. */
  pauseMs: number;
  /** The 99th percentile of the delay of the event loop since the last report, in ms. */
  delayP99Ms: number;
  /** The longest delay of the event loop since the last report, in ms. */
  delayMaxMs: number;
  /** Largest memory since the start. */
  peakBytes: number;
}

/** Ticks of CPU time per second in `/proc`: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
const TICKS_PER_SECOND = 100;
const MICROS_PER_TICK = 1e6 / TICKS_PER_SECOND;
/** Positions in `/proc/PID/stat` after the name of the program. */
const PARENT = 1;
const TIMES = [11, 12, 13, 14];

/**
 * Asks a process for its report without a collection of garbage: no request causes one, it takes longer in a
 * process with more code, and it makes the young generation small again.
 */
export function timesOf(process: HouseProcess): Promise<Usage> {
  return ask<Usage>(process, 'times', 'usage');
}

/** Asks a process for its report after a collection of garbage, so that its memory can be compared. */
export function usageOf(process: HouseProcess): Promise<Usage> {
  return ask<Usage>(process, 'usage', 'usage');
}

/** Asks a process for its report after it has returned free memory to the system, which takes 16 s. */
export function settledUsageOf(process: HouseProcess): Promise<Usage> {
  return ask<Usage>(process, 'settled usage', 'usage');
}

/** Profiles a process while the work runs. Returns its heaviest functions. */
export async function profiled(process: HouseProcess, work: () => Promise<unknown>): Promise<Heavy[]> {
  await ask(process, 'profile', 'profiling');
  await work();
  return (await ask<{ functions: Heavy[] }>(process, 'end of profile', 'profile')).functions;
}

function ask<Answer>({ child }: HouseProcess, question: string, type: string): Promise<Answer> {
  return new Promise((resolve) => {
    const listen = (message: { type: string } & Answer): void => {
      if (message.type !== type) return;
      child.off('message', listen);
      resolve(message);
    };
    child.on('message', listen);
    child.send(question);
  });
}

/**
 * CPU time of a process and all its descendants in µs, those that have ended included; undefined where there
 * is no `/proc`.
 */
export function treeMicros(pid: number): number | undefined {
  const stats = allStats();
  if (!stats.has(pid)) return undefined;
  let micros = 0;
  const queue = [pid];
  for (let parent = queue.pop(); parent !== undefined; parent = queue.pop()) {
    micros += stats.get(parent)?.micros ?? 0;
    for (const [id, stat] of stats) if (stat.parent === parent) queue.push(id);
  }
  return micros;
}

interface Stat {
  parent: number;
  micros: number;
}

function allStats(): Map<number, Stat> {
  const stats = new Map<number, Stat>();
  for (const name of listed()) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (stat) stats.set(Number(name), stat);
  }
  return stats;
}

function listed(): string[] {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

function statOf(pid: string): Stat | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const ticks = TIMES.reduce((sum, at) => sum + Number(fields[at]), 0);
    return { parent: Number(fields[PARENT]), micros: ticks * MICROS_PER_TICK };
  } catch {
    // The process ended in the meantime.
    return undefined;
  }
}
