/** Finds the PostgreSQL server that runs on a cluster, by its pid file. */
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

interface PidFile {
  pid: number;
  port: number;
  /** Whether the server accepts connections. */
  ready: boolean;
}

/**
 * The content of `postmaster.pid`; undefined without a valid one. Line 1 is the process, line 4 the port,
 * line 8 the state: https://www.postgresql.org/docs/18/storage-file-layout.html.
 */
export function readPidFile(cluster: string): PidFile | undefined {
  let lines: string[];
  try {
    lines = readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 1
    ? { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
    : undefined;
}

/**
 * Removes the pid file of a server that is gone. After a crash of the machine, the pid may belong to another
 * program, and PostgreSQL would refuse to start.
 */
export function removeForeignPidFile(cluster: string): void {
  const found = readPidFile(cluster);
  if (found && !isPostgres(found.pid)) rmSync(path.join(cluster, 'postmaster.pid'), { force: true });
}

/** Whether the process runs and is PostgreSQL; on systems other than Linux, whether the process runs. */
export function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  try {
    // Empty for a zombie process.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.includes('postgres') === true;
  } catch {
    return process.platform !== 'linux';
  }
}
