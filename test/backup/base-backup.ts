/**
 * A base backup of a running PostgreSQL, and a server on it: by the server's own functions, because the
 * embedded binaries have no pg_basebackup. https://www.postgresql.org/docs/current/continuous-archiving.html
 * (25.3.4)
 */
import { chownSync, copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Written while it is copied: what the log holds of it makes it whole again. */
const LEFT_OUT = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'pg_wal',
  'pg_replslot',
  'pg_notify',
  'pg_stat_tmp',
]);
const FOLDER_MODE = 0o700;

/** Settings of a server that can be copied: the log since the copy began is still there when it ends. */
export const COPIED_WHILE_RUNNING = { wal_keep_size: '1GB' };

/**
 * Copies the cluster of the server while it is written to. `folder` then is a data folder that
 * `startPostgres` starts with the same password.
 */
export async function takeBackup(url: string, from: string, folder: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const cluster = join(folder, 'postgres');
  const source = join(from, 'postgres');
  mkdirSync(folder, { mode: 0o711 });
  copyFileSync(join(from, 'postgres-password'), join(folder, 'postgres-password'));
  await client.query(`select pg_backup_start('test', true)`);
  copyFolder(source, cluster);
  for (const name of ['pg_replslot', 'pg_notify', 'pg_stat_tmp']) makeFolder(join(cluster, name), source);
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(true)');
  // The log last: it has to reach up to the stop.
  copyFolder(join(source, 'pg_wal'), join(cluster, 'pg_wal'));
  writeFileSync(join(cluster, 'backup_label'), rows[0]?.labelfile ?? '');
  takeOwner(join(cluster, 'backup_label'), source);
  await client.end();
}

/** Files that vanish meanwhile were not needed: their removal stands in the log. */
function copyFolder(from: string, to: string): void {
  makeFolder(to, from);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    try {
      if (entry.isDirectory()) copyFolder(source, target);
      else {
        copyFileSync(source, target);
        takeOwner(target, source);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

function makeFolder(at: string, like: string): void {
  mkdirSync(at, { mode: FOLDER_MODE });
  takeOwner(at, like);
}

/** The server refuses a cluster of somebody else. */
function takeOwner(at: string, like: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(like);
  chownSync(at, uid, gid);
}
