/** Measures workloads on several targets in turn, in several rounds. */
import type { HouseProcess } from '../../house/process.ts';
import { PACE_MS, journalWrites } from './disk.ts';
import type { WriteTimes } from './disk.ts';
import { openStreams, runLoad } from './load.ts';
import type { Target, Times } from './load.ts';
import { percentile } from './percentile.ts';
import { timesOf, treeMicros, usageOf } from './processes.ts';
import type { Usage } from './processes.ts';
import { CHUNKS, HOLDING_MODEL } from './workloads.ts';
import type { Load, Workload } from './workloads.ts';

/** A target whose process is measured. The upstream is asked directly and has none. */
export interface Measured extends Target {
  process?: HouseProcess;
  /** Whether its child processes work for it: the workers of a node. */
  hasWorkers?: boolean;
  /** Further processes that work for it, with their descendants. */
  helpers?: readonly number[];
  /** A folder on the disk to which it writes a charge before it answers. */
  writesTo?: string;
}

/** The figures of one target in one round. */
interface Round {
  cpuMicros: number;
  /** CPU time of all its processes; undefined where it cannot be read. */
  allMicros: number | undefined;
  latencies: Latencies;
  /** Of its own process; undefined if its workers serve the requests. */
  usage: Usage | undefined;
  /** Durable writes at the pace of the load, measured after it; undefined for targets that write nothing. */
  writes: WriteTimes | undefined;
}

interface Latencies {
  p50: number;
  p99: number;
  p999: number;
  firstP50: number;
  firstP99: number;
}

/** A median over all rounds, and the smallest and largest value. */
export interface Figure {
  median: number;
  from: number;
  to: number;
}

/**
 * The figures of one target for one workload. CPU times are per request or chunk, in µs; other times in ms.
 */
export interface Row {
  workload: string;
  target: string;
  cpu: Figure;
  /** CPU time as a multiple of that of bare Fastify in the same round. */
  ratio: Figure;
  all: Figure | undefined;
  /** Latency beyond that of the upstream, asked directly in the same round. */
  added: Readonly<Record<keyof Latencies, Figure>>;
  /**
   * The added p50 and p99 without those of durable writes in the same round; undefined for targets that write
   * nothing, and for loads at another pace.
   */
  beyondDisk: Readonly<Record<'p50' | 'p99', Figure>> | undefined;
  /** Of the process itself; undefined if its workers serve the requests. */
  pauseMs: number | undefined;
  delayP99Ms: number | undefined;
  permitted: number | undefined;
}

/** The reference of all ratios. */
export const REFERENCE = 'bare Fastify';
/** The upstream, which is asked directly. */
export const DIRECT = 'upstream';

/** The node of this checkout. The names of others begin with it. */
export const GATEWAY = 'gateway';

/**
 * Each target first serves the load unmeasured, at least this many times and this long, so that its code is
 * compiled. After 12,000 requests much of it is not yet, after 30,000 nearly all is. A load with a rate would
 * take minutes for that, so its requests are sent in closed loops first.
 */
const WARM_UP_LOADS = 5;
const WARM_UP_MS = 20_000;
const QUICKLY: Load = { kind: 'closed', requests: 3_000, atOnce: 32 };

/** Measures one workload. The order of the targets is turned in every round. */
export async function measure(
  targets: readonly Measured[],
  workload: Workload,
  rounds: number,
): Promise<Row[]> {
  for (const target of targets) await warmUp(target, workload);
  const results = new Map(targets.map(({ name }) => [name, [] as Round[]]));
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? targets : targets.toReversed();
    for (const target of order) results.get(target.name)?.push(await measureOnce(target, workload));
  }
  return targets.filter(({ process }) => process).map(({ name }) => rowOf(name, workload, results));
}

/** Serves the workload unmeasured, until the code is compiled. */
export async function warmUp(target: Measured, workload: Workload): Promise<void> {
  const load: Load = workload.load.kind === 'rate' ? QUICKLY : workload.load;
  const from = performance.now();
  for (let count = 0; count < WARM_UP_LOADS || performance.now() - from < WARM_UP_MS; count += 1)
    await runLoad(target, workload, load);
}

async function measureOnce(target: Measured, workload: Workload): Promise<Round> {
  const before = await usageBefore(target);
  const times = await runLoad(target, workload, workload.load);
  const usage = target.process && (await timesOf(target.process));
  const units = times.whole.length * (workload.per === 'chunk' ? CHUNKS : 1);
  const cpuMicros = ownMicros(target, usage) - before.own;
  const helpers = helperMicros(target);
  return {
    cpuMicros: cpuMicros / units,
    allMicros:
      helpers === undefined || before.helpers === undefined
        ? undefined
        : (cpuMicros + helpers - before.helpers) / units,
    latencies: latenciesOf(times),
    usage: target.hasWorkers ? undefined : usage,
    writes: await writesBeside(target, workload.load),
  };
}

/**
 * Durable writes on the disk of the target, as many as the load had requests. Undefined if the load had
 * another pace than these writes, or if the target writes nothing.
 */
async function writesBeside({ writesTo }: Measured, load: Load): Promise<WriteTimes | undefined> {
  if (writesTo === undefined || load.kind !== 'rate' || load.perSecond * PACE_MS !== 1_000) return undefined;
  return journalWrites(writesTo, load.perSecond * load.seconds);
}

async function usageBefore(target: Measured): Promise<{ own: number; helpers: number | undefined }> {
  const usage = target.process && (await timesOf(target.process));
  return { own: ownMicros(target, usage), helpers: helperMicros(target) };
}

function ownMicros({ process, hasWorkers }: Measured, usage: Usage | undefined): number {
  const pid = hasWorkers ? process?.child.pid : undefined;
  return (pid === undefined ? undefined : treeMicros(pid)) ?? usage?.cpuMicros ?? 0;
}

function helperMicros({ helpers = [] }: Measured): number | undefined {
  const times = helpers.map((pid) => treeMicros(pid));
  return times.some((time) => time === undefined)
    ? undefined
    : times.reduce<number>((sum, time) => sum + (time ?? 0), 0);
}

function latenciesOf({ whole, firstByte }: Times): Latencies {
  return {
    ...{ p50: percentile(whole, 0.5), p99: percentile(whole, 0.99), p999: percentile(whole, 0.999) },
    ...{ firstP50: percentile(firstByte, 0.5), firstP99: percentile(firstByte, 0.99) },
  };
}

function rowOf(name: string, workload: Workload, results: ReadonlyMap<string, readonly Round[]>): Row {
  const own = results.get(name) ?? [];
  const reference = results.get(REFERENCE) ?? [];
  const direct = results.get(DIRECT) ?? [];
  const addedIn = (at: number, of: keyof Latencies): number =>
    (own[at]?.latencies[of] ?? 0) - (direct[at]?.latencies[of] ?? 0);
  const added = (of: keyof Latencies): Figure => figureOf(own.map((_, at) => addedIn(at, of)));
  const beyond = (of: 'p50' | 'p99', wrote: (times: WriteTimes) => number): Figure =>
    figureOf(own.flatMap(({ writes }, at) => (writes ? [addedIn(at, of) - wrote(writes)] : [])));
  const all = own.flatMap(({ allMicros }) => (allMicros === undefined ? [] : [allMicros]));
  return {
    workload: workload.name,
    target: name,
    cpu: figureOf(own.map(({ cpuMicros }) => cpuMicros)),
    ratio: figureOf(own.map(({ cpuMicros }, at) => cpuMicros / (reference[at]?.cpuMicros ?? Number.NaN))),
    all: all.length === own.length ? figureOf(all) : undefined,
    added: {
      ...{ p50: added('p50'), p99: added('p99'), p999: added('p999') },
      ...{ firstP50: added('firstP50'), firstP99: added('firstP99') },
    },
    beyondDisk: own.some(({ writes }) => writes)
      ? { p50: beyond('p50', ({ p50Ms }) => p50Ms), p99: beyond('p99', ({ p99Ms }) => p99Ms) }
      : undefined,
    pauseMs: largest(own.map(({ usage }) => usage?.pauseMs)),
    delayP99Ms: largest(own.map(({ usage }) => usage?.delayP99Ms)),
    permitted: name.startsWith(GATEWAY) ? workload.target : undefined,
  };
}

/** The largest value; undefined if one is missing. */
function largest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? Math.max(...known) : undefined;
}

/** The median, and the range. */
export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((one, other) => one - other);
  return { median: sorted[sorted.length >> 1] ?? 0, from: sorted[0] ?? 0, to: sorted.at(-1) ?? 0 };
}

/** Memory of open streams. */
export interface MemoryRow {
  target: string;
  streams: number;
  kilobytesPerStream: number;
  /** Memory of the whole process while the streams are open, in MB. */
  megabytes: number;
}

/** Measures the memory of streams that have begun and do not end. */
export async function measureMemory(target: Measured, streams: number): Promise<MemoryRow | undefined> {
  if (!target.process) return undefined;
  const question = { model: HOLDING_MODEL, stream: true, turns: ['Go on.'], tools: 0 };
  const before = await usageOf(target.process);
  const close = await openStreams(target, { client: 'chat', question }, streams);
  const after = await usageOf(target.process);
  await close();
  return {
    target: target.name,
    streams,
    kilobytesPerStream: (after.residentBytes - before.residentBytes) / 1024 / streams,
    megabytes: after.residentBytes / 1024 / 1024,
  };
}
