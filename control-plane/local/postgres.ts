/** Starts, adopts and stops the packaged PostgreSQL, which is the same engine as in production. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, closeSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  type Binaries,
  chooseIdentity,
  findBinaries,
  findClusterFolder,
  type Identity,
  chownAll,
  makerOf,
} from './postgres-binaries.ts';
import { readOrMakeSecret } from './data-folder.ts';
import { findFreePort } from './ports.ts';
import { isStillInUse, openLog, sizeOfLog, tailOf } from './postgres-log.ts';
import { isPostgres, readPidFile, removeForeignPidFile } from './postgres-pid.ts';

const USER = 'gateway';
const DATABASE = 'postgres';
const POLL_MS = 10;
const START_LIMIT_MS = 60_000;
/** Pause before the next attempt while processes of a killed server end, in ms. */
const RETRY_MS = 200;
const CONNECT_LIMIT_MS = 3_000;
/**
 * Time for a fast shutdown; then an immediate one follows (safe, because the WAL is replayed), then SIGKILL.
 */
const FAST_STOP_MS = 600;
const IMMEDIATE_STOP_MS = 200;

interface PostgresOptions {
  /** The data folder, for the cluster, its password and its log. Created if it is missing. */
  dataDir: string;
  /** The TCP port on 127.0.0.1; 0 or absent picks a free one. */
  port?: number;
  /** Additional server settings, e.g. `{ fsync: 'off' }`. */
  settings?: Record<string, string>;
  /** Receives the name of each slow step before it begins. */
  onProgress?: (step: string) => void;
}

/** A running PostgreSQL server. */
export interface Postgres {
  /** Address for the owner of the cluster, with the password. */
  url: string;
  pid: number;
  port: number;
  /** Whether the server was already running, because the process that started it was killed. */
  adopted: boolean;
  isRunning(): boolean;
  /** Stops the server within 2 s. Resolves when it has exited. */
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
 * A running server on the data folder: an orphaned one if there is one, else a new one. Creates the cluster
 * at the first start. Throws an Error with the last lines of the server's log if it does not start.
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
  // If root starts it, the server runs as another user, who must enter this folder. Secrets in it are 0600.
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

/** Creates the cluster in a temporary folder and renames it, so that a crash leaves no incomplete cluster. */
function createCluster(binaries: Binaries, { cluster, identity, password }: Site): void {
  const draft = `${cluster}.init`;
  const passwordFile = `${cluster}.init-password`;
  rmSync(draft, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const maker = makerOf(identity);
  for (const file of [draft, passwordFile]) if ('uid' in maker) chownSync(file, maker.uid, maker.gid);
  try {
    execFileSync(binaries.initdb, ['-D', draft, '-U', USER, `--pwfile=${passwordFile}`, ...OPTIONS], {
      ...maker,
      cwd: '/',
      stdio: 'pipe',
      env: serverEnvironment(),
    });
    if ('uid' in identity) chownAll(draft, identity.uid);
    renameSync(draft, cluster);
  } catch (cause) {
    throw new Error(
      `The database in ${cluster} cannot be created: ${complaintOf(cause)}. Correct this and start again.`,
      { cause },
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** The first error message of a PostgreSQL program, or Node's message if there is none. */
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

/** Starts the server, again if processes of a killed one have not ended yet. */
async function launch(parts: Launch): Promise<Postgres> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const begin = sizeOfLog(parts.site.logFile);
    try {
      return await launchOnce(parts, deadline);
    } catch (error) {
      if (!isStillInUse(parts.site.logFile, begin) || performance.now() > deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Starts the server. Throws an Error with the end of its log if it is not ready at the deadline. */
async function launchOnce({ binaries, site, port, settings }: Launch, deadline: number): Promise<Postgres> {
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

/**
 * Settings of the server. They keep statements, values and errors about them out of the log. A larger
 * `max_wal_size` means fewer checkpoints under load: after each one, the first change of a page writes all of
 * it. `min_wal_size` keeps files of the write-ahead log for reuse: a commit waits while a new one is made.
 */
function baseSettings(port: number): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '100',
    max_wal_size: '2GB',
    min_wal_size: '1GB',
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

/**
 * The server's environment, without the caller's PG… and locale variables, which would change its behaviour.
 */
function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * The server that a killed process left running, once it accepts the password; undefined if there is none.
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
        `Process ${found.pid} uses ${site.cluster} but does not answer. Stop it and start again.`,
      );
    }
    // The server is starting or stopping.
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
