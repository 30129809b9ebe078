/**
 * `npm run bench:settlement`: measures how fast the control plane settles usage reports of several nodes at
 * once, over HTTP and with a real PostgreSQL. Checks afterwards that each request was charged once and that
 * the ledger keeps its rules. Prints a line and writes `.bench/settlement.json`. BENCH_NODES, BENCH_WALLETS,
 * BENCH_BATCHES and BENCH_ROWS set the amounts; BENCH_PROFILE=on adds the heaviest functions of the control
 * plane. BENCH_WITHOUT names indexes, separated by commas, that are dropped before the measurement.
 * Nodes send one batch after another, as fast as they are settled. BENCH_PER_SECOND lets all of them together
 * report this many rows a second, and times then count from the moment at which a batch was due.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier } from 'pg';
import { Pool } from 'undici';
import { startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { withPostgres } from '../with-postgres.ts';
import { figuresOf } from './query-times.ts';
import { profiled, treeMicros } from './requests/processes.ts';
import { addReporters, reportsOf } from './settlement-setting.ts';
import type { Reporter } from './settlement-setting.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 10);
const WALLETS = Number(process.env['BENCH_WALLETS'] ?? 200);
/**
 * Batches of each node after those for the compiler. What is answered before the last node has answers to its
 * own for the compiler is not measured.
 */
const BATCHES = Number(process.env['BENCH_BATCHES'] ?? 100);
const WARM_BATCHES = 10;
/** Rows of a batch, at most 500. */
const ROWS = Number(process.env['BENCH_ROWS'] ?? 200);
/** Rows a second of all nodes together; 0 for as many as are settled. */
const PER_SECOND = Number(process.env['BENCH_PER_SECOND'] ?? 0);
const WITHOUT = (process.env['BENCH_WITHOUT'] ?? '').split(',').filter((name) => name !== '');
const PROFILE = process.env['BENCH_PROFILE'] === 'on';
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
const PRELOAD = ['--expose-gc', '--import', join(import.meta.dirname, 'report-usage.ts')];

/** A report that was settled: when it was due and how long its answer took from then on, in ms. */
interface Settled {
  dueAt: number;
  ms: number;
}

/** Sends the reports of a node one after another, and calls `onAnswer` after each with its number from 1. */
async function send(
  pool: Pool,
  { token }: Reporter,
  { reports, onAnswer }: { reports: readonly Buffer[]; onAnswer: (number: number) => void },
): Promise<Settled[]> {
  const settled: Settled[] = [];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const intervalMs = PER_SECOND > 0 ? (NODES * ROWS * 1000) / PER_SECOND : 0;
  // Nodes begin at different moments of the interval.
  const firstAt = performance.now() + Math.random() * intervalMs;
  for (const [at, body] of reports.entries()) {
    const dueAt = intervalMs > 0 ? firstAt + at * intervalMs : performance.now();
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const answer = await pool.request({ method: 'POST', path: '/graphql', headers, body });
    const text = await answer.body.text();
    if (!text.includes(`"accepted":${ROWS}`)) throw new Error(`A report was refused: ${text}`);
    settled.push({ dueAt, ms: performance.now() - dueAt });
    onAnswer(at + 1);
  }
  return settled;
}

/**
 * Sends the reports of all nodes. `warm` resolves once each node has answers to its batches for the compiler;
 * the nodes go on meanwhile. If all of them paused there, all their next reports would come in one moment.
 */
function sendAll(
  pool: Pool,
  reporters: readonly Reporter[],
): { warm: Promise<void>; all: Promise<Settled[]> } {
  const warm = Promise.withResolvers<void>();
  let warmNodes = 0;
  const onAnswer = (number: number): void => {
    if (number === WARM_BATCHES) warmNodes += 1;
    if (warmNodes === NODES) warm.resolve();
  };
  const bodies = reporters.map((reporter) => reportsOf(reporter, WARM_BATCHES + BATCHES, ROWS));
  const sent = reporters.map((reporter, at) => send(pool, reporter, { reports: bodies[at] ?? [], onAnswer }));
  return { warm: warm.promise, all: Promise.all(sent).then((lists) => lists.flat()) };
}

/** CPU time so far, in µs: of the control plane, and of PostgreSQL with all its processes. */
async function cpuOf(house: House): Promise<{ control: number; database: number }> {
  const { rows } = await house.database.query<{ pid: number }>('select pg_backend_pid() as pid');
  const stat = readFileSync(`/proc/${rows[0]?.pid}/stat`, 'utf8');
  const postmaster = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  return { control: treeMicros(house.control.child.pid ?? 0) ?? 0, database: treeMicros(postmaster) ?? 0 };
}

/** Throws unless every reported request was charged once and every rule of the ledger holds. */
async function verify(house: House): Promise<void> {
  const expected = String(NODES * (BATCHES + WARM_BATCHES) * ROWS);
  const { rows } = await house.database.query<{ charges: string; sums: string; key: string }>(
    `select (select count(*)::text from usage_charge) as charges,
      (select sum(requests)::text from usage_hour) as sums,
      (select sum(requests)::text from usage_key_month) as key`,
  );
  if (Object.values(rows[0] ?? {}).some((count) => count !== expected))
    throw new Error(`Of ${expected} requests the database has ${JSON.stringify(rows)}.`);
  const { admin } = await house.admin.query<{ admin: { ledgerCheck: { rules: LedgerRule[] } } }>(
    '{ admin { ledgerCheck { rules { rule violations { subject detail } } } } }',
  );
  const broken = admin.ledgerCheck.rules.filter(({ violations }) => violations.length > 0);
  if (broken.length > 0) throw new Error(JSON.stringify(broken));
}

interface LedgerRule {
  rule: string;
  violations: unknown[];
}

/** Files of the write-ahead log, of 16 MB each: more than a run with default amounts writes. */
const LOG_FILES = 50;

/**
 * Lets PostgreSQL reuse files of its write-ahead log, as a server does that has run for a while. A new server
 * makes and syncs a file for each 16 MB, and a commit waits for that.
 */
async function reuseLogFiles(house: House): Promise<void> {
  for (let file = 0; file < LOG_FILES; file += 1)
    await house.database.query("select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()");
  await house.database.query('checkpoint');
}

async function run(databaseUrl: string): Promise<void> {
  const house = await startHouse({ databaseUrl, nodes: 0, controlExecArgv: PRELOAD });
  const pool = new Pool(house.controlUrl, { connections: NODES });
  try {
    for (const name of WITHOUT) await house.database.query(`drop index ${escapeIdentifier(name)}`);
    const reporters = await addReporters(house.database, { nodes: NODES, wallets: WALLETS });
    await reuseLogFiles(house);
    const { warm, all } = sendAll(pool, reporters);
    await Promise.race([warm, all]);
    const before = await cpuOf(house);
    const startedAt = performance.now();
    const functions = PROFILE ? await profiled(house.control, () => all) : [];
    const settled = (await all).filter(({ dueAt, ms }) => dueAt + ms >= startedAt);
    const seconds = (performance.now() - startedAt) / 1000;
    const after = await cpuOf(house);
    const rows = settled.length * ROWS;
    const times = settled.filter(({ dueAt }) => dueAt >= startedAt).map(({ ms }) => ms);
    const figures = {
      ...figuresOf('batch', times),
      rowsPerSecond: rows / seconds,
      controlMicros: (after.control - before.control) / rows,
      databaseMicros: (after.database - before.database) / rows,
    };
    await verify(house);
    process.stdout.write(
      `${figures.rowsPerSecond.toFixed(0)} rows/s from ${NODES} nodes; a batch of ${ROWS}: ` +
        `p50 ${figures.p50Ms.toFixed(0)} ms, p99 ${figures.p99Ms.toFixed(0)} ms; CPU time per row: ` +
        `control plane ${figures.controlMicros.toFixed(1)} µs, PostgreSQL ` +
        `${figures.databaseMicros.toFixed(1)} µs\n`,
    );
    for (const { name, percent } of functions) process.stdout.write(`${percent.toFixed(1)} % ${name}\n`);
    mkdirSync(OUTPUT, { recursive: true });
    const machine = { cpus: cpus().length, load: loadavg() };
    const amounts = { nodes: NODES, wallets: WALLETS, batches: BATCHES, rows: ROWS, perSecond: PER_SECOND };
    const size = { ...amounts, without: WITHOUT };
    const result = { at: new Date(), machine, size, figures, functions };
    writeFileSync(join(OUTPUT, 'settlement.json'), `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await pool.close();
    await house.stop();
  }
}

await withPostgres('settlement', run);
