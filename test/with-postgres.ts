/** Gives a program a PostgreSQL of its own. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../control-plane/local/postgres.ts';

/**
 * Starts PostgreSQL in a temporary folder, whose name holds `name`, and runs `work` with its address. Stops
 * PostgreSQL and removes the folder, also if `work` throws.
 */
export async function withPostgres<Result>(
  name: string,
  work: (databaseUrl: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), `gateway-${name}-`));
  try {
    // If root runs the program, PostgreSQL runs as another user, who must be able to enter this folder.
    chmodSync(folder, 0o711);
    const postgres = await startPostgres({ dataDir: folder });
    try {
      return await work(postgres.url);
    } finally {
      await postgres.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
