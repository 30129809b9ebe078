/** Locks a journal folder for one process. The operating system releases the lock when the process ends. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY_MS = 50;

/** Releases the lock. */
type Unlock = () => void;

/**
 * Locks the folder. Throws if another process holds the lock.
 * Node has no API for file locks. SQLite uses those of the operating system, which end with the process.
 */
export function lockFolder(folder: string): Unlock {
  const database = new DatabaseSync(join(folder, 'lock'));
  try {
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new Error(
      `${folder} is in use by another node process: stop it, or give this node a DATA_DIR of its own`,
      { cause },
    );
  }
  return () => database.close();
}

/** Like `lockFolder`, but waits at most `limitMs` for another process that is about to end. */
export async function lockFolderWithin(folder: string, limitMs: number): Promise<Unlock> {
  const until = performance.now() + limitMs;
  for (;;) {
    try {
      return lockFolder(folder);
    } catch (error) {
      if (performance.now() >= until) throw error;
      await pause(RETRY_MS);
    }
  }
}
