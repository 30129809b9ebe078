/**
 * Takes a base backup of a running PostgreSQL with the server's low-level backup functions, because the
 * embedded binaries have no pg_basebackup. https://www.postgresql.org/docs/current/continuous-archiving.html
 * (25.3.4)
 */
import { chownSync, copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Files and folders of a cluster that a backup leaves out; `pg_wal` is copied at the end. */
const LEFT_OUT = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'pg_wal',
  'pg_replslot',
  'pg_notify',
  'pg_stat_tmp',
]);
const FOLDER_MODE = 0o700;

/** Settings of a server that is copied while it runs: they keep the WAL written during the copy. */
export const COPIED_WHILE_RUNNING = { wal_keep_size: '1GB' };

/**
 * Copies the cluster in the data folder `from` to `folder` while the server at `url` runs on it.
 * `startPostgres` can start a server with the same password on `folder`.
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
  // The WAL is copied last, because it must contain the end of the backup.
  copyFolder(join(source, 'pg_wal'), join(cluster, 'pg_wal'));
  writeFileSync(join(cluster, 'backup_label'), rows[0]?.labelfile ?? '');
  takeOwner(join(cluster, 'backup_label'), source);
  await client.end();
}

/** Copies a folder. Files that are deleted meanwhile are skipped: the WAL contains their deletion. */
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

/**
 * Run as root, gives the file to the owner of `like`, because the server refuses a cluster of another user.
 */
function takeOwner(at: string, like: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(like);
  chownSync(at, uid, gid);
}
