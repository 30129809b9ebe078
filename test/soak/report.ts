/** Judges a soak run. */
import { RELEASED_KEYS_PER_MINUTE } from '../../data-plane/limits.ts';
import { cpuOf } from './cpu.ts';
import type { AttackCpu } from './cpu.ts';
import type { Observation } from './honest.ts';
import { LIVEZ, RETRIED } from './honest.ts';
import type { Phase, SoakRecord } from './run.ts';
import type { HeldHeap, PlaneSample, Sample } from './samples.ts';

/** Figures of one part of the run. */
export interface Figures {
  name: string;
  /** Number of attacks at the same time. */
  attacks: number;
  /** Duration in minutes. */
  minutes: number;
  /** Honest requests, without health checks. */
  requests: number;
  errors: number;
  /** Attempts that failed, and whose repetition with the same Idempotency-Key succeeded. */
  retries: number;
  /** Honest requests per second, without health checks. */
  perSecond: number;
  /** `perSecond` in percent of the part without attacks. */
  throughput: number;
  /** The 99th percentile of the duration of an honest chat request, in ms. */
  chatP99Ms: number;
  consoleP99Ms: number;
  livezP99Ms: { control: number; node: number };
  cpu: AttackCpu;
  /** Largest figures of the part. */
  peak: { control: Peak; node: Peak };
  /** Rows that were added beyond those of paid requests, over all tables, and the tables with most. */
  rowsBeyond: number;
  tables: string;
  files: number;
  /** Heap without garbage at the end of the part, in MB. */
  heap: HeldHeap;
  logKilobytes: { control: number; node: number };
  attacker: string;
  failures: Record<string, number>;
}

/** The largest figures of a plane in one part. */
export type Peak = Pick<PlaneSample, 'rssMegabytes' | 'handles' | 'timers' | 'loopDelayMs'>;

export interface SoakReport {
  seed: number;
  heapMegabytes: number;
  figures: Figures[];
  /** Why the run failed; empty if everything held. */
  faults: string[];
}

/**
 * Permitted `/livez` p99 under attack. On a machine that is too busy for half of it without an attack, the
 * p99 without an attack is added.
 */
const LIVEZ_P99_MS = 200;
/** Permitted share of failed requests under attack, as a multiple of the share without attacks. */
const ERRORS_FACTOR = 2;
/** Smallest permitted throughput of honest clients under attack, in percent of that without attacks. */
const THROUGHPUT_MIN = 80;
/**
 * Permitted growth of the heap without garbage: stores that are bounded and full after the attacks, of
 * documents, addresses and callers.
 */
const HEAP_MARGIN_MB = 48;
/** Permitted growth of RSS over its peak without attacks: what V8 and the allocators keep for later. */
const RSS_MARGIN_MB = 128;
const RSS_MARGIN_SHARE = 0.5;
const HANDLES_MARGIN = 50;
const TIMERS_MARGIN = 50;
const FILES_MARGIN = 10;
/** Rows of an attack: one per kind of refusal, network and minute, but not one per attempt. */
const ROWS_PER_ATTACK = 500;
/** Part of the name of the attack whose failed requests leave a row each, up to a limit per minute. */
const RESERVING = 'Idempotency-Keys';
/** Rows per paid request, compared with the part without attacks: it settles in batches of varying size. */
const ROWS_FACTOR = 1.5;
const TABLES_SHOWN = 3;
const OTHERS = new Set<string>([LIVEZ.control, LIVEZ.node, RETRIED]);
const FAILURES_SHOWN = 4;

/** The figures of all phases, and the violations. */
export function judge(record: SoakRecord): SoakReport {
  const [quiet] = record.phases;
  if (!quiet) throw new Error('The run has no part without attacks.');
  const requests = honest(record, quiet).length;
  const figures = record.phases.map((phase) => figuresOf(record, phase, { phase: quiet, requests }));
  return {
    seed: record.seed,
    heapMegabytes: record.heapMegabytes,
    figures,
    faults: [...record.deaths, ...faultsOfParts(figures), ...faultsOfRest(record.phases)],
  };
}

function within({ seen }: SoakRecord, { startedAt: from, endedAt }: Phase): Observation[] {
  return seen.filter(({ startedAt }) => startedAt >= from && startedAt < endedAt);
}

/** Requests of honest clients in a phase, without health checks and retried attempts. */
function honest(record: SoakRecord, phase: Phase): Observation[] {
  return within(record, phase).filter(({ kind }) => !OTHERS.has(kind));
}

function figuresOf(record: SoakRecord, phase: Phase, quiet: { phase: Phase; requests: number }): Figures {
  const seen = within(record, phase);
  const requests = honest(record, phase);
  // An attacker with money pays for its answers as everybody does.
  const paid = requests.length + (phase.counts?.paid ?? 0);
  const beyond = rowsBeyond(phase, paid, quiet).filter(([, rows]) => rows > 0);
  const p99 = (kinds: RegExp): number => percentile(seen.filter(({ kind }) => kinds.test(kind)));
  const failures: Record<string, number> = {};
  for (const { kind, failure } of seen)
    if (failure !== undefined) failures[`${kind}: ${failure}`] = (failures[`${kind}: ${failure}`] ?? 0) + 1;
  const seconds = secondsOf(phase);
  const quietRate = Math.max(1, quiet.requests) / secondsOf(quiet.phase);
  return {
    name: phase.name,
    attacks: phase.attacks,
    minutes: seconds / 60,
    requests: requests.length,
    errors: Object.values(failures).reduce((sum, count) => sum + count, 0),
    retries: seen.filter(({ kind }) => kind === RETRIED).length,
    perSecond: round(requests.length / seconds),
    throughput: Math.round((requests.length / seconds / quietRate) * 100),
    chatP99Ms: p99(/^chat/),
    consoleP99Ms: p99(/^console/),
    livezP99Ms: { control: p99(/^livez of the c/), node: p99(/^livez of the n/) },
    cpu: cpuOf({ phase, requests: requests.length }, quiet),
    peak: { control: peak(phase.samples, 'control'), node: peak(phase.samples, 'node') },
    rowsBeyond: beyond.reduce((sum, [, rows]) => sum + rows, 0),
    tables: beyond
      .slice(0, TABLES_SHOWN)
      .map(([table, rows]) => `${table} ${rows}`)
      .join(', '),
    files: phase.after.files,
    heap: phase.heap,
    logKilobytes: { control: logGrowth(phase, 'control'), node: logGrowth(phase, 'node') },
    attacker: phase.counts ? describe(phase.counts.ends, phase.counts.bytesSent) : '',
    failures,
  };
}

function faultsOfParts(figures: readonly Figures[]): string[] {
  const [quiet] = figures;
  if (!quiet) return [];
  return figures.slice(1).flatMap((part) => {
    const shown = Object.entries(part.failures).slice(0, FAILURES_SHOWN);
    const reasons = shown.map(([reason, count]) => `${count} × ${reason}`).join('; ');
    const share = quiet.errors / Math.max(1, quiet.requests);
    const hasErrors = part.errors > Math.ceil(share * ERRORS_FACTOR * part.requests);
    return [
      ...(part.throughput < THROUGHPUT_MIN
        ? [`${part.name}: throughput of honest clients is ${part.throughput} %, permitted ${THROUGHPUT_MIN}`]
        : []),
      ...(hasErrors ? [`${part.name}: ${part.errors} errors of honest clients: ${reasons}`] : []),
      ...(['control', 'node'] as const).flatMap((plane) => livezFault(part, quiet, plane)),
      ...(part.rowsBeyond > rowsPermitted(part)
        ? [`${part.name}: ${part.rowsBeyond} rows beyond those of paid requests: ${part.tables}`]
        : []),
    ];
  });
}

function rowsPermitted({ name, attacks, minutes }: Figures): number {
  const reserved = name.includes(RESERVING) ? RELEASED_KEYS_PER_MINUTE * minutes : 0;
  return ROWS_PER_ATTACK * Math.max(1, attacks) + reserved;
}

function livezFault(part: Figures, quiet: Figures, plane: 'control' | 'node'): string[] {
  const usual = quiet.livezP99Ms[plane];
  const permitted = usual > LIVEZ_P99_MS / 2 ? LIVEZ_P99_MS + usual : LIVEZ_P99_MS;
  const found = part.livezP99Ms[plane];
  return found > permitted
    ? [`${part.name}: /livez p99 of ${plane} is ${found} ms, permitted ${permitted}`]
    : [];
}

/** Compares the rest with the quiet part: what has not returned to its level. */
function faultsOfRest(phases: readonly Phase[]): string[] {
  const quiet = phases[0];
  const rest = phases.at(-1);
  if (!quiet || !rest || rest === quiet) return [];
  const faults: string[] = [];
  const check = (what: string, found: number, permitted: number): void => {
    if (found > permitted)
      faults.push(`${what} did not return: ${found}, permitted ${Math.round(permitted)}`);
  };
  for (const plane of ['control', 'node'] as const) {
    const level = peak(quiet.samples, plane);
    const end = lowest(rest.samples, plane);
    const margin = Math.max(RSS_MARGIN_MB, level.rssMegabytes * RSS_MARGIN_SHARE);
    check(`heap of ${plane} in MB`, rest.heap[plane], quiet.heap[plane] + HEAP_MARGIN_MB);
    check(`RSS of ${plane} in MB`, end.rssMegabytes, level.rssMegabytes + margin);
    check(`handles of ${plane}`, end.handles, level.handles + HANDLES_MARGIN);
    check(`timers of ${plane}`, end.timers, level.timers + TIMERS_MARGIN);
  }
  check('files of DATA_DIR', rest.after.files, quiet.after.files + FILES_MARGIN);
  return faults;
}

/** Rows per table that were added beyond those of paid requests, most first. */
function rowsBeyond(
  phase: Phase,
  requests: number,
  quiet: { phase: Phase; requests: number },
): [string, number][] {
  const growth = (part: Phase, table: string): number =>
    Math.max(0, (part.after.rows[table] ?? 0) - (part.before.rows[table] ?? 0));
  const share = requests / Math.max(1, quiet.requests);
  return Object.keys(phase.after.rows)
    .map((table): [string, number] => {
      const usual = growth(quiet.phase, table) * share * ROWS_FACTOR;
      return [table, Math.round(Math.max(0, growth(phase, table) - usual))];
    })
    .toSorted(([, a], [, b]) => b - a);
}

function extreme(samples: readonly Sample[], plane: 'control' | 'node', pick: typeof Math.max): Peak {
  const of = (name: keyof Peak): number => pick(0, ...samples.map((each) => each[plane][name]));
  const names = ['rssMegabytes', 'handles', 'timers', 'loopDelayMs'] as const;
  const [rssMegabytes, handles, timers, loopDelayMs] = names.map(of);
  return {
    rssMegabytes: rssMegabytes ?? 0,
    handles: handles ?? 0,
    timers: timers ?? 0,
    loopDelayMs: loopDelayMs ?? 0,
  };
}

const peak = (samples: readonly Sample[], plane: 'control' | 'node'): Peak =>
  extreme(samples, plane, Math.max);
const lowest = (samples: readonly Sample[], plane: 'control' | 'node'): Peak =>
  extreme(samples, plane, (_, ...values) => Math.min(...values));

function logGrowth({ samples }: Phase, plane: 'control' | 'node'): number {
  const growth = (samples.at(-1)?.[plane].logBytes ?? 0) - (samples[0]?.[plane].logBytes ?? 0);
  return Math.round(growth / 1_024);
}

function secondsOf({ startedAt, endedAt }: Phase): number {
  return (endedAt - startedAt) / 1_000;
}

function percentile(seen: readonly Observation[]): number {
  const sorted = seen.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function describe(ends: Record<string, number>, bytes: number): string {
  const parts = Object.entries(ends).map(([end, count]) => `${end}: ${count}`);
  return `${Math.round(bytes / 1_048_576)} MB; ${parts.join(', ')}`;
}
