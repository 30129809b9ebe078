/** Samples of the planes: memory, handles, timers, rows, files, log lines. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { House } from '../house.ts';

/** Resources of one plane at one moment. */
export interface PlaneSample {
  rssMegabytes: number;
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
  const metrics = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(SCRAPE_LIMIT_MS) })
    .then((response) => response.text())
    .catch(() => '');
  const value = (name: string): number =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? 0,
    );
  return {
    rssMegabytes: Math.round(rssKilobytes(child.pid) / KILOBYTE),
    handles: handlesOf(child.pid),
    timers: value('nodejs_active_resources{type="Timeout"}'),
    loopDelayMs: Math.round(value('nodejs_eventloop_lag_p99_seconds') * SECOND_MS),
    logBytes: statSync(logFile).size,
  };
}

function rssKilobytes(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
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
