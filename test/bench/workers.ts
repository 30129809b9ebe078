/**
 * `npm run bench:workers -- N`: the throughput of one node with one worker and with N, on one machine.
 * `npm run bench:workers -- N 30` gives each worker 30 % of a core, so that clients, upstream and database
 * take none of its CPU time. Prints a table and writes `.bench/workers.json`.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { startProcess } from '../house/process.ts';
import { measureWorkers, workersTable } from './worker-figures.ts';

const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
const workers = Number(process.argv[2] ?? cpus().length);
const share = process.argv[3] === undefined ? null : Number(process.argv[3]);

/** Creates an empty database on the server of this address. */
async function createDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const created = new URL(url);
  created.pathname = `/${name}`;
  return created.href;
}

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
chmodSync(dataDir, 0o711);
const postgres = await startPostgres({ dataDir });
const logFile = join(dataDir, 'bench.log');
const upstream = await startProcess({ entry: 'test/bench/burst-upstream.ts', env: {}, logFile });
try {
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    node: process.version,
    load: loadavg()[0],
    share,
  };
  process.stdout.write(`${machine.cores} × ${machine.cpu}, load ${machine.load?.toFixed(1)}\n\n`);
  const second = await createDatabase(postgres.url, 'bench_workers');
  const origin = `http://127.0.0.1:${upstream.port}`;
  const target = { origin, upstream: upstream.child.pid ?? 0, workers, share };
  const figures = await measureWorkers([postgres.url, second], target);
  process.stdout.write(`${workersTable(figures)}\n`);
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(join(OUTPUT, 'workers.json'), JSON.stringify({ machine, figures }, null, 2));
} finally {
  await upstream.stop();
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
