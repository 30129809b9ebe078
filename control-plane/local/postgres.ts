/** Starts, adopts and stops the PostgreSQL that comes with the packages: the same engine as in production. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  type Binaries,
  chooseIdentity,
  findBinaries,
  findClusterFolder,
  type Identity,
} from './postgres-binaries.ts';
import { readOrMakeSecret } from './data-folder.ts';
import { findFreePort } from './ports.ts';
import { isPostgres, readPidFile, removeForeignPidFile } from './postgres-pid.ts';

const USER = 'gateway';
const DATABASE = 'postgres';
const POLL_MS = 10;
const START_LIMIT_MS = 60_000;
const CONNECT_LIMIT_MS = 3_000;
/** A fast shutdown that takes longer becomes an immediate one (safe: the log is replayed), then a kill. */
const FAST_STOP_MS = 600;
const IMMEDIATE_STOP_MS = 200;
const LOG_MAX_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_LINES = 12;

export interface PostgresOptions {
  /** The folder of everything we keep; the cluster, its password and its log go into it. Made when absent. */
  dataDir: string;
  /** The TCP port on 127.0.0.1; 0 or absent picks a free one. */
  port?: number;
  /** Further server settings, e.g. `{ fsync: 'off' }`. */
  settings?: Record<string, string>;
  /** Told, before it begins, of what takes longer than a moment. */
  onProgress?: (step: string) => void;
}

export interface Postgres {
  /** Connects as the owner of the cluster, password included. */
  url: string;
  pid: number;
  port: number;
  /** True when a server was found running, left behind by a process that was killed. */
  adopted: boolean;
  isRunning(): boolean;
  /** Stops the server, within 2 s; returns when it is gone. */
  stop(): Promise<void>;
}

interface Site {
  dataDir: string;
  cluster: string;
  password: string;
  logFile: string;
  identity: Identity;
}

/**
 * A running server on the data folder: the one left behind there if there is one, else a new one, whose
 * cluster is made at the first start. Throws with the last lines of the server's log when it does not come
 * up.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const site = openSite(options.dataDir);
  const adopted = await adopt(site);
  if (adopted) return adopted;
  const binaries = findBinaries();
  if (!existsSync(path.join(site.cluster, 'PG_VERSION'))) {
    options.onProgress?.('Creating the database (once)');
    createCluster(binaries, site);
  }
  const port = options.port || (await findFreePort());
  return launch({ binaries, site, port, settings: options.settings ?? {} });
}

function openSite(folder: string): Site {
  const dataDir = path.resolve(folder);
  // A superuser's server runs as somebody else, who has to get through this folder; secrets in it are 0600.
  if (!existsSync(dataDir))
    mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const logs = path.join(dataDir, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const cluster = findClusterFolder(dataDir);
  return {
    dataDir,
    cluster,
    password: readOrMakeSecret(path.join(dataDir, 'postgres-password')),
    logFile: path.join(logs, 'postgres.log'),
    identity: chooseIdentity(cluster),
  };
}

const OPTIONS = ['--auth=scram-sha-256', '--encoding=UTF8', '--no-locale', '--no-instructions', '--no-sync'];

/** Made in a folder beside and renamed when complete: a crash in the middle leaves nothing half made. */
function createCluster(binaries: Binaries, { cluster, identity, password }: Site): void {
  const draft = `${cluster}.init`;
  const passwordFile = `${cluster}.init-password`;
  rmSync(draft, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const file of [draft, passwordFile])
    if ('uid' in identity) chownSync(file, identity.uid, identity.gid);
  try {
    execFileSync(binaries.initdb, ['-D', draft, '-U', USER, `--pwfile=${passwordFile}`, ...OPTIONS], {
      ...identity,
      cwd: '/',
      stdio: 'pipe',
      env: serverEnvironment(),
    });
    renameSync(draft, cluster);
  } catch (cause) {
    throw new Error(`${cluster} cannot be made: ${complaintOf(cause)}. Put it right, then start again.`, {
      cause,
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** The first complaint of a program of PostgreSQL; what Node says of it where it had none. */
function complaintOf(failure: unknown): string {
  const { stderr, message } = failure as { stderr?: Buffer; message?: string };
  const complaint = /(?:FATAL|error): +(.+)/.exec(stderr?.toString('utf8') ?? '');
  return complaint?.[1] ?? message ?? String(failure);
}

interface Launch {
  binaries: Binaries;
  site: Site;
  port: number;
  settings: Record<string, string>;
}

async function launch({ binaries, site, port, settings }: Launch): Promise<Postgres> {
  removeForeignPidFile(site.cluster);
  const log = openLog(site.logFile);
  const child = spawn(
    binaries.postgres,
    ['-D', site.cluster, ...settingArguments({ ...baseSettings(port), ...settings })],
    { ...site.identity, cwd: '/', detached: true, stdio: ['ignore', log, log], env: serverEnvironment() },
  );
  closeSync(log);
  child.unref();
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  const deadline = performance.now() + START_LIMIT_MS;
  while (readPidFile(site.cluster)?.ready !== true || readPidFile(site.cluster)?.pid !== child.pid) {
    if (failure) throw failure;
    if (hasEnded(child) || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`PostgreSQL did not start. The end of ${site.logFile}:\n${tailOf(site.logFile)}`);
    }
    await sleep(POLL_MS);
  }
  const pid = child.pid;
  if (pid === undefined) throw new Error('PostgreSQL did not start.');
  return describe({ site, pid, port, adopted: false, isGone: () => hasEnded(child) });
}

/** No statements, no values and no messages about them in the log: they may hold what people wrote. */
function baseSettings(port: number): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '100',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
}

function settingArguments(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** PG… and locale variables of the caller would change what the server does. */
function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

function openLog(file: string): number {
  const tooLarge = existsSync(file) && statSync(file).size > LOG_MAX_BYTES;
  const log = openSync(file, tooLarge ? 'w' : 'a', 0o600);
  chmodSync(file, 0o600);
  return log;
}

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
}

/**
 * The server that a killed process left behind, once it answers to our password; undefined when there is
 * none.
 */
async function adopt(site: Site): Promise<Postgres | undefined> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const found = readPidFile(site.cluster);
    if (!found || !isPostgres(found.pid)) return undefined;
    if (found.ready && (await answers(urlOf(site, found.port)))) {
      const isGone = (): boolean => !isPostgres(found.pid) || readPidFile(site.cluster)?.pid !== found.pid;
      return describe({ site, pid: found.pid, port: found.port, adopted: true, isGone });
    }
    if (performance.now() > deadline) {
      throw new Error(
        `Process ${found.pid} holds ${site.cluster} but does not answer; stop it and start again.`,
      );
    }
    // It is starting or stopping: either ends soon.
    await sleep(POLL_MS * 5);
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_LIMIT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

interface Running {
  site: Site;
  pid: number;
  port: number;
  adopted: boolean;
  isGone: () => boolean;
}

function describe({ site, pid, port, adopted, isGone }: Running): Postgres {
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopServer(pid, isGone));
  return { url: urlOf(site, port), pid, port, adopted, isRunning: () => !isGone(), stop };
}

function urlOf(site: Site, port: number): string {
  return `postgres://${USER}:${site.password}@127.0.0.1:${port}/${DATABASE}`;
}

async function stopServer(pid: number, isGone: () => boolean): Promise<void> {
  for (const [signal, limitMs] of [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ] as const) {
    if (isGone()) return;
    signalTo(pid, signal);
    const deadline = performance.now() + limitMs;
    while (!isGone() && performance.now() < deadline) await sleep(POLL_MS);
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
