/** Finds the server that runs on a cluster, by the note that it keeps there. */
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

export interface PidFile {
  pid: number;
  port: number;
  /** Whether it says that it takes connections. */
  ready: boolean;
}

/**
 * What a running server notes of itself; undefined when there is none.
 * https://www.postgresql.org/docs/18/storage-file-layout.html: line 1 is the process, line 4 the port, line
 * 8 the state.
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
 * Removes the note of a server that is gone. After a crash of the machine its number may belong to another
 * program, for which PostgreSQL would wait.
 */
export function removeForeignPidFile(cluster: string): void {
  const found = readPidFile(cluster);
  if (found && !isPostgres(found.pid)) rmSync(path.join(cluster, 'postmaster.pid'), { force: true });
}

/** Whether the process runs and is a PostgreSQL; where the system does not tell, whether it runs. */
export function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  try {
    // Empty for a process that has ended but was not waited for.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.includes('postgres') === true;
  } catch {
    return process.platform !== 'linux';
  }
}
