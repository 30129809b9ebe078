/** The CPU time, memory and profiles of the measured processes. */
import { readFileSync, readdirSync } from 'node:fs';
import type { HouseProcess } from '../../house/process.ts';
import type { Heavy } from '../profile.ts';

/** The report of one process; see `report-usage.ts`. */
export interface Usage {
  cpuMicros: number;
  residentBytes: number;
  heapUsedBytes: number;
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
  return treeOf(pid, stats).reduce((sum, id) => sum + (stats.get(id)?.micros ?? 0), 0);
}

/**
 * Memory of a process and all its descendants in bytes: their private pages, and once the shared pages, which
 * are those of the process that has most of them; undefined where there is no `/proc`.
 */
export function treeBytes(pid: number): number | undefined {
  const pages = treeOf(pid, allStats()).flatMap((id) => pagesOf(id) ?? []);
  if (pages.length === 0) return undefined;
  const own = pages.reduce((sum, { anonymous }) => sum + anonymous, 0);
  return own + Math.max(...pages.map(({ shared }) => shared));
}

/** The process and all its descendants. */
function treeOf(pid: number, stats: ReadonlyMap<number, Stat>): number[] {
  const tree: number[] = [];
  const queue = [pid];
  for (let parent = queue.pop(); parent !== undefined; parent = queue.pop()) {
    tree.push(parent);
    for (const [id, stat] of stats) if (stat.parent === parent) queue.push(id);
  }
  return tree;
}

/** Its pages in bytes: https://man7.org/linux/man-pages/man5/proc_pid_status.5.html */
function pagesOf(pid: number): { anonymous: number; shared: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = (name: string): number =>
      Number(new RegExp(String.raw`^${name}:\s+(\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1_024;
    return { anonymous: bytes('RssAnon'), shared: bytes('RssFile') + bytes('RssShmem') };
  } catch {
    // The process ended in the meantime.
    return undefined;
  }
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
