/** Samples of the planes: memory, handles, timers, rows, files, log lines. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { House } from '../house.ts';

/** Resources of one plane at one moment. */
export interface PlaneSample {
  rssMegabytes: number;
  /** CPU time of the process since its start, with its threads, in ms. */
  cpuMs: number;
  /** Open files and sockets. */
  handles: number;
  timers: number;
  /** The 99th percentile of the delay of its event loop since the previous sample, in ms. */
  loopDelayMs: number;
  logBytes: number;
}

export interface Sample {
  /** Wall clock, in ms. */
  at: number;
  control: PlaneSample;
  node: PlaneSample;
}

/** Number of stored rows and bytes at one moment. */
export interface Stored {
  /** Number of rows per table. */
  rows: Record<string, number>;
  /** Number and size of the files below DATA_DIR, without logs. */
  files: number;
  fileBytes: number;
}

const KILOBYTE = 1_024;
const SECOND_MS = 1_000;
const SCRAPE_LIMIT_MS = 10_000;
/** Time in which a plane collects its garbage, in ms. */
const COLLECTION_MS = 500;

/** Samples both planes. Figures of a plane that does not answer are 0. */
export async function sample(house: House): Promise<Sample> {
  const [node] = house.nodes;
  if (!node) throw new Error('There is no node.');
  const [control, data] = await Promise.all([
    samplePlane(house.controlUrl, house.control),
    samplePlane(node.url, node.process),
  ]);
  return { at: Date.now(), control, node: data };
}

async function samplePlane(url: string, { child, logFile }: House['control']): Promise<PlaneSample> {
  const value = await metricsOf(url);
  return {
    rssMegabytes: Math.round(rssKilobytes(child.pid) / KILOBYTE),
    cpuMs: cpuMsOf(child.pid),
    handles: handlesOf(child.pid),
    timers: value('nodejs_active_resources{type="Timeout"}'),
    loopDelayMs: Math.round(value('nodejs_eventloop_lag_p99_seconds') * SECOND_MS),
    logBytes: statSync(logFile).size,
  };
}

/** Heap and external memory of each plane after all garbage was collected, in MB. */
export interface HeldHeap {
  control: number;
  node: number;
}

/** Collects the garbage of both planes, and returns what is left. Both need `collect-garbage.ts`. */
export async function heldHeap(house: House): Promise<HeldHeap> {
  const [node] = house.nodes;
  if (!node) throw new Error('There is no node.');
  const held = async (url: string, { child }: House['control']): Promise<number> => {
    child.kill('SIGUSR2');
    await sleep(COLLECTION_MS);
    const value = await metricsOf(url);
    const bytes = value('nodejs_heap_size_used_bytes') + value('nodejs_external_memory_bytes');
    return Math.round(bytes / KILOBYTE / KILOBYTE);
  };
  const control = await held(house.controlUrl, house.control);
  return { control, node: await held(node.url, node.process) };
}

/** Reads the metrics of a plane. The value of a metric is 0 if the plane does not answer. */
async function metricsOf(url: string): Promise<(name: string) => number> {
  const metrics = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(SCRAPE_LIMIT_MS) })
    .then((response) => response.text())
    .catch(() => '');
  return (name) => {
    const line = metrics.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.split(' ')[1] ?? 0);
  };
}

function rssKilobytes(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Fields 14 and 15 of `/proc/PID/stat`, in ticks of 10 ms; the name before them may have blanks. */
function cpuMsOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
  } catch {
    return 0;
  }
}

function handlesOf(pid: number | undefined): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Counts the rows of every table, and the files of the data folder. */
export async function stored({ database, dataDir }: House): Promise<Stored> {
  const { rows: tables } = await database.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  const rows: Record<string, number> = {};
  for (const { name } of tables) {
    const counted = await database.query<{ count: number }>(`select count(*)::int as count from "${name}"`);
    rows[name] = counted.rows[0]?.count ?? 0;
  }
  return { rows, ...filesBelow(dataDir) };
}

function filesBelow(folder: string): { files: number; fileBytes: number } {
  const total = { files: 0, fileBytes: 0 };
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.name.endsWith('.log')) continue;
    total.files += 1;
    // A temporary file may be gone meanwhile.
    total.fileBytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return total;
}
