/** Keeps a second process out of a journal folder. The lock dies with the process that holds it. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Lets the folder go. */
export type Unlock = () => void;

/**
 * Takes the folder for this process alone. Throws when another process has it.
 * Node offers no file locks of its own; SQLite's are the operating system's and vanish with their process,
 * however it ends.
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
