/**
 * A PostgreSQL whose content tests can dump. An installation with pg_dump is used if the machine has one (as
 * Debian installs it). Otherwise the packaged server writes all rows of all schemas with COPY, which is how
 * pg_dump reads them: the packaged binaries have no pg_dump.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { findFreePort } from '../../control-plane/local/ports.ts';

const INSTALLATIONS = '/usr/lib/postgresql';
/** The user `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const STARTED_WITHIN_MS = 20_000;
const TRUST = ['--auth=trust', '--username=gateway', '--encoding=UTF8', '--no-sync'];

export interface DumpedPostgres {
  url: string;
  /** Everything that a dump of the database contains. */
  dump(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a server with its cluster and its log in the folder. */
export async function startDumpedPostgres(folder: string): Promise<DumpedPostgres> {
  const installed = newestInstallation();
  if (installed) return startInstalled(installed, folder);
  const { url, stop } = await startPostgres({ dataDir: folder });
  return { url, stop, dump: () => copyOf(url) };
}

/** The folder of the newest installed programs; undefined if none has both server and pg_dump. */
function newestInstallation(): string | undefined {
  if (!existsSync(INSTALLATIONS)) return undefined;
  return readdirSync(INSTALLATIONS)
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(INSTALLATIONS, version, 'bin'))
    .find((bin) => ['initdb', 'postgres', 'pg_dump'].every((name) => existsSync(join(bin, name))));
}

async function startInstalled(bin: string, folder: string): Promise<DumpedPostgres> {
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const cluster = join(folder, 'postgres');
  mkdirSync(cluster, { mode: 0o700 });
  if (isRoot) chownSync(cluster, NOBODY, NOBODY);
  execFileSync(join(bin, 'initdb'), ['-D', cluster, ...TRUST], { ...identity, stdio: 'ignore' });
  const port = await findFreePort();
  const log = openSync(join(folder, 'postgres.log'), 'a');
  const places = ['-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', cluster];
  const options = [...places, '-c', 'fsync=off', '-c', 'max_connections=100'];
  const server = spawn(join(bin, 'postgres'), ['-D', cluster, ...options], {
    ...identity,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const url = `postgres://gateway@127.0.0.1:${port}/postgres`;
  await answering(url);
  return {
    url,
    dump: async () =>
      execFileSync(join(bin, 'pg_dump'), [url], { encoding: 'utf8', maxBuffer: 1024 * 1024 * 1024 }),
    stop: async () => {
      const gone = once(server, 'exit');
      server.kill('SIGINT');
      await gone;
    },
  };
}

async function answering(url: string): Promise<void> {
  const until = Date.now() + STARTED_WITHIN_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** The rows of all tables that a dump contains, in the text format of COPY. */
async function copyOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'm') and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const { rows } = await client.query<{ folder: string }>(
      `select current_setting('data_directory') as folder`,
    );
    const file = join(rows[0]?.folder ?? '', 'copied');
    const parts: string[] = [];
    for (const { name } of tables) {
      await client.query(`copy ${name} to '${file}'`);
      parts.push(name, readFileSync(file, 'utf8'));
    }
    return parts.join('\n');
  } finally {
    await client.end();
  }
}
